"""Graphs of small runs to the last edge and lag, worked out by hand from their times."""

from __future__ import annotations

from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import EdgeKind
from tests.support.trace_builder import TraceBuilder
from tests.whatif.told import edges, lasting, unexplained


def graph_of(builder: TraceBuilder) -> tuple[Trace, Graph]:
    trace = builder.build()
    return trace, build(trace)


def test_launches_a_queue_and_a_wait() -> None:
    """The stream is idle at the launches at 10 and 128, which take 8 and 7 µs: their lower quartile is 7.25. The second
    kernel begins 2 µs after the first has ended; the wait returns 10 µs after the second, as does the release at 200.
    """
    builder = TraceBuilder().operator("aten::x", 0, 150).kernel("k", 18, 50, launch_at_us=10)
    builder.kernel("k", 70, 40, launch_at_us=20).sync(30, 90).kernel("k", 135, 10, launch_at_us=128)
    trace, graph = graph_of(builder)
    assert edges(trace, graph) == {
        "RELEASE origin → first of 1 +0",
        "RELEASE origin → <k@18 +0",
        "LAUNCH <cudaLaunchKernel@10 → <k@18 +7.25",
        "LAUNCH <cudaLaunchKernel@20 → <k@70 +7.25",
        "LAUNCH <cudaLaunchKernel@128 → <k@135 +7.25",
        "STREAM_SYNC k@70 → cudaStreamSynchronize@30 +10",
    }
    assert lasting(trace, graph) == {
        "<cudaLaunchKernel@10": 10,
        "cudaLaunchKernel@10": 5,
        "<cudaLaunchKernel@20": 5,
        "cudaLaunchKernel@20": 5,
        "<cudaStreamSynchronize@30": 5,
        "cudaStreamSynchronize@30": 10,  # no other call shows what it takes without waiting
        "<cudaLaunchKernel@128": 8,
        "cudaLaunchKernel@128": 5,
        "last of 1": 17,  # until the operator ends
        "k@18": 50,
        "<k@70": 2,
        "k@70": 40,
        "<k@135": 2,
        "k@135": 10,
    }
    assert unexplained(trace, graph) == {"<k@18": 0.75}
    assert graph.streams == {2: (0, 7)} and graph.host_chain == 1


def test_two_streams_joined_by_an_event_and_a_wait_for_both() -> None:
    """The second stream's kernel begins 4 µs after the one that it waits for has ended."""
    builder = TraceBuilder().kernel("a", 18, 300, launch_at_us=10, stream=7)
    builder.call("cudaEventRecord", 16, 1, correlation=900).call("cudaStreamWaitEvent", 18, 1, correlation=901)
    builder.kernel("b", 322, 50, launch_at_us=20, stream=20).sync(40, 342, "cudaDeviceSynchronize")
    trace, graph = graph_of(builder)
    assert edges(trace, graph, EdgeKind.RELEASE) == {
        "LAUNCH <cudaLaunchKernel@0 → <a@8 +8",
        "LAUNCH <cudaLaunchKernel@10 → <b@312 +8",
        "EVENT_WAIT a@8 → <b@312 +4",
        "DEVICE_SYNC a@8 → cudaDeviceSynchronize@30 +10",
        "DEVICE_SYNC b@312 → cudaDeviceSynchronize@30 +10",
    }
    assert unexplained(trace, graph) == {}
    assert graph.streams == {2: (0, 7), 3: (0, 20)}


def test_an_event_that_is_far_away_is_no_measure_of_the_lag() -> None:
    """13 µs after the kernel that it waits for: something else held it up."""
    builder = TraceBuilder().kernel("a", 18, 300, launch_at_us=10, stream=7)
    builder.call("cudaEventRecord", 16, 1, correlation=900).call("cudaStreamWaitEvent", 18, 1, correlation=901)
    trace, graph = graph_of(builder.kernel("b", 331, 50, launch_at_us=20, stream=20))
    assert "EVENT_WAIT a@8 → <b@321 +0" in edges(trace, graph)
    nearer = TraceBuilder().kernel("a", 18, 300, launch_at_us=10, stream=7)
    nearer.call("cudaEventRecord", 16, 1, correlation=900).call("cudaStreamWaitEvent", 18, 1, correlation=901)
    trace, graph = graph_of(nearer.kernel("b", 330, 50, launch_at_us=20, stream=20))
    assert "EVENT_WAIT a@8 → <b@320 +12" in edges(trace, graph)


def test_copies_that_hold_the_host() -> None:
    """The first returns 5 µs before the copy has ended, 75 after it began; the second 10 µs after its end. The kernels'
    lags are 10 and 8 µs; each operation begins 2 µs after the one before.
    """
    builder = TraceBuilder().copy("h2d", 20, 80, host_memory="pageable", launch_at_us=10, launch_for_us=85)
    builder.kernel("k", 110, 40, launch_at_us=100)
    builder.copy("d2h", 152, 30, host_memory="pageable", launch="cudaMemcpy", launch_at_us=106, launch_for_us=86)
    trace, graph = graph_of(builder.kernel("k", 208, 5, launch_at_us=200))
    assert edges(trace, graph, EdgeKind.RELEASE) == {
        "LAUNCH <cudaMemcpyAsync@0 → <Memcpy HtoD (Pageable)@10 +10",
        "LAUNCH <cudaLaunchKernel@90 → <k@100 +8.5",
        "LAUNCH <cudaMemcpy@96 → <Memcpy DtoH (Pageable)@142 +10",  # copies: of the one that found its stream idle
        "LAUNCH <cudaLaunchKernel@190 → <k@198 +8.5",
        "BLOCKING_COPY <Memcpy HtoD (Pageable)@10 → cudaMemcpyAsync@0 +75",
        "BLOCKING_COPY Memcpy DtoH (Pageable)@142 → cudaMemcpy@96 +10",
    }
    host = {name: us for name, us in lasting(trace, graph).items() if "cudaMemcpy" in name}
    assert host == {"cudaMemcpyAsync@0": 10, "<cudaMemcpy@96": 1, "cudaMemcpy@96": 10}
    assert unexplained(trace, graph) == {"<k@100": 1.5}


def test_a_release_takes_what_it_took_after_the_device_had_drained() -> None:
    """The kernel ends at 518, the release at 620."""
    builder = TraceBuilder().kernel("k", 18, 500, launch_at_us=10).call("cudaFree", 20, 600)
    builder.kernel("k", 640, 20, launch_at_us=632).call("cudaMalloc", 640, 12)
    trace, graph = graph_of(builder)
    assert edges(trace, graph, EdgeKind.RELEASE, EdgeKind.LAUNCH) == {"ALLOCATION k@8 → cudaFree@10 +102"}
    assert lasting(trace, graph)["cudaFree@10"] == 102
    assert lasting(trace, graph)["cudaMalloc@630"] == 12


def handing_over(back_us: float) -> TraceBuilder:
    """Another thread works from 20 to 95 µs, the main thread pauses from 10 µs until then."""
    builder = TraceBuilder().thread("main").kernel("a", 10, 1, launch_at_us=0, launch_for_us=10)
    builder.thread("other").kernel("b", 12, 1, stream=20, launch_at_us=2, launch_for_us=10)
    for at in range(20, 100, 20):
        builder.kernel("b", at + 8, 1, stream=20, launch_at_us=at, launch_for_us=15)
    return builder.thread("main").kernel("c", back_us + 20, 1, launch_at_us=back_us)


def test_a_pause_that_the_others_calls_fill_is_a_wait_for_them() -> None:
    """75 µs of calls are four fifths of 93.7 µs."""
    trace, graph = graph_of(handing_over(103))
    found = {edge for edge in edges(trace, graph) if edge.startswith("HAND_OFF")}
    assert found == {"HAND_OFF cudaLaunchKernel@80 → <cudaLaunchKernel@103 +8"}
    assert lasting(trace, graph)["<cudaLaunchKernel@103"] == 8
    trace, graph = graph_of(handing_over(104))
    assert not any(edge.startswith("HAND_OFF") for edge in edges(trace, graph))
    assert lasting(trace, graph)["<cudaLaunchKernel@104"] == 94


def test_a_kernel_kept_out_until_the_last_blocks_drain() -> None:
    """It begins 28 µs before the large one has ended, which ran through all of its delay."""
    builder = TraceBuilder().kernel("large", 18, 5000, launch_at_us=10, stream=7)
    trace, graph = graph_of(builder.kernel("small", 4990, 10, launch_at_us=20, stream=20))
    assert "INFERRED_WAIT large@8 → <small@4980 -28" in edges(trace, graph)
    assert unexplained(trace, graph) == {}


def late_after(other_us: float, begin_us: float, *, stream: int = 20, device: int = 0) -> set[str]:
    """Two quick launches, a kernel until 100 µs, and one on another stream that was launched at 20."""
    builder = TraceBuilder().kernel("k", 8, 2, launch_at_us=0, stream=9).kernel("k", 1008, 2, launch_at_us=1000)
    builder.kernel("x", 100 - other_us, other_us, launch_at_us=92 - other_us, stream=7)
    builder.kernel("y", begin_us, 10, launch_at_us=20, stream=stream, device=device)
    trace, graph = graph_of(builder)
    return {edge for edge in edges(trace, graph) if edge.startswith("INFERRED")}


def test_what_a_late_kernel_probably_waited_for() -> None:
    """Launched at 20, it could have begun at 28."""
    assert late_after(70, 100) == {"INFERRED_WAIT x@30 → <y@100 +0"}  # 70 of 72 µs of delay
    assert late_after(70, 107) == {"INFERRED_WAIT x@30 → <y@107 +7"}  # 70 of 79: still most of it
    assert late_after(40, 107) == {"INFERRED_WAIT x@60 → <y@107 +2"}  # half of it: it has just ended
    assert late_after(40, 112) == {"INFERRED_WAIT x@60 → <y@112 +2"}
    assert late_after(40, 113) == set()  # too long ago
    assert late_after(70, 107, device=1) == set()


def test_without_launches_each_stream_begins_as_recorded() -> None:
    trace, graph = graph_of(TraceBuilder().kernel("x", 18, 50).kernel("y", 75, 10))
    assert edges(trace, graph) == {"RELEASE origin → <x@0 +0"}
    assert lasting(trace, graph) == {"x@0": 50, "<y@57": 1, "y@57": 10}  # the usual gap is 1 µs
    assert unexplained(trace, graph) == {"<y@57": 6}
    assert graph.host_chain == -1


def test_a_part_of_a_run_begins_at_its_first_call() -> None:
    builder = TraceBuilder().kernel("k", 18, 50, launch_at_us=10).kernel("k", 118, 50, launch_at_us=110)
    trace = builder.kernel("k", 218, 50, launch_at_us=210).build()
    graph = build(trace, 100_000, 210_000)
    assert edges(trace, graph, EdgeKind.RELEASE) == {"LAUNCH <cudaLaunchKernel@10 → <k@18 +8"}
    assert graph.origin_ns == 100_000 and graph.event_node.tolist()[::2] == [-1, -1]
