"""What the graph makes of the calls that wait, and of streams that wait for each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.model.schema import SYNCS
from gpuprof.model.table import Table
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import fidelity
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.launching import QUEUE_LENGTH
from gpuprof.whatif.graph.nodes import EdgeKind, NodeKind
from gpuprof.whatif.retime import retime, span_ns
from tests.support.trace_builder import TraceBuilder


def edges_of(graph, kind):
    chosen = graph.edges.take(graph.edges.kind == kind)
    return list(zip(chosen.src.tolist(), chosen.dst.tolist(), strict=True))


def test_a_call_is_two_nodes_and_an_operation_too():
    graph = build(TraceBuilder().kernel("k", 18, 50, launch_at_us=10).sync(20, 58).build())
    assert [NodeKind(kind).name for kind in graph.nodes.kind] == [
        "ORIGIN", "HOST_GAP", "HOST_GAP", "CALL", "HOST_GAP", "CALL", "HOST_GAP", "STREAM_GAP", "DEVICE_OP",
    ]  # fmt: skip
    launch, sync = graph.call_node
    (operation,) = graph.event_node
    assert edges_of(graph, EdgeKind.LAUNCH) == [(launch - 1, operation - 1)]
    assert edges_of(graph, EdgeKind.STREAM_SYNC) == [(operation, sync)]
    assert graph.duration_ns[sync] <= 10_000 < 58_000


def test_a_wait_is_found_although_its_kernel_is_recorded_to_end_just_after_it():
    """Clocks of host and device that disagree by 12 µs, as ROCm's do: not 990 µs of work of the host's own."""
    builder = TraceBuilder().kernel("a", 18, 500, launch_at_us=10).kernel("b", 519, 500, launch_at_us=14)
    trace = builder.sync(20, 987, "hipDeviceSynchronize").build()
    graph = build(trace)
    (sync,) = graph.call_node[[-1]]
    assert edges_of(graph, EdgeKind.DEVICE_SYNC) == [(graph.event_node[0], sync)]
    assert fidelity(trace, graph).unexplained_wait_ns == 0


def test_a_wait_for_nothing_that_was_recorded_is_told():
    builder = TraceBuilder().sync(20, 900, "cudaDeviceSynchronize").kernel("a", 1010, 50, launch_at_us=1000)
    trace = builder.sync(1020, 50, "cudaDeviceSynchronize").build()
    assert fidelity(trace, build(trace)).unexplained_wait_ns >= 890_000


def test_threads_that_take_turns_become_one_chain():
    builder = TraceBuilder().thread("main").kernel("a", 20, 5, launch_at_us=10)
    builder.thread("autograd").kernel("b", 120, 5, launch_at_us=110)
    builder.thread("main").kernel("c", 220, 5, launch_at_us=210)
    builder.thread("watchdog").call("cudaEventQuery", 12, 30).call("cudaEventQuery", 112, 30)
    graph = build(builder.build())
    assert len(np.unique(graph.nodes.chain)) == 3
    assert (graph.call_node >= 0).sum() == 3


def test_threads_at_work_together_stay_apart_and_hand_over():
    builder = TraceBuilder().thread("main").kernel("a", 10, 1, launch_at_us=0, launch_for_us=10)
    builder.thread("other").kernel("b", 12, 1, stream=20, launch_at_us=2, launch_for_us=10)
    for at in range(20, 200, 20):
        builder.kernel("b", at + 8, 1, stream=20, launch_at_us=at, launch_for_us=15)
    builder.thread("main").kernel("c", 230, 1, launch_at_us=200)
    trace = builder.build()
    graph = build(trace)
    hosts = np.unique(graph.nodes.chain[graph.select(NodeKind.CALL)])
    assert len(hosts) == 2
    assert len(edges_of(graph, EdgeKind.HAND_OFF)) == 1
    others = graph.call_node[trace.calls["thread"] == 1]
    quick = graph_edits.scale(graph, np.concatenate([others, others - 1]), 0.5)
    assert span_ns(graph) - span_ns(quick) > 50_000


def test_a_driver_call_inside_a_runtime_call_is_no_call_of_its_own():
    builder = TraceBuilder().call("cudaLaunchKernel", 10, 20)
    builder.kernel("k", 40, 10, launch="cuLaunchKernel", launch_at_us=15, launch_for_us=5)
    graph = build(builder.build())
    outer, inner = graph.call_node
    assert inner == -1
    assert edges_of(graph, EdgeKind.LAUNCH) == [(outer - 1, graph.event_node[0] - 1)]


def test_a_blocking_copy_holds_the_host_until_it_ends():
    builder = TraceBuilder().kernel("k", 18, 200, launch_at_us=10)
    builder.copy("d2h", 220, 30, host_memory="pageable", launch="cudaMemcpy", launch_at_us=20, launch_for_us=240)
    trace = builder.kernel("k", 278, 10, launch_at_us=270).build()
    graph = build(trace)
    call = graph.call_node[1]
    assert edges_of(graph, EdgeKind.BLOCKING_COPY) == [(graph.event_node[1], call)]
    shorter = graph_edits.set_duration(graph, graph.event_node[[0]], 100_000)
    assert retime(graph)[call] - retime(shorter)[call] == 100_000


def test_a_full_queue_holds_the_host():
    builder, call_us, kernel_us, lag_us = TraceBuilder(), 5, 20, 8
    for at in range(1_200):
        builder.kernel("k", lag_us + at * (kernel_us + 1), kernel_us, launch_at_us=at * call_us, launch_for_us=call_us)
    graph = build(builder.build())
    queue = edges_of(graph, EdgeKind.QUEUE)
    assert queue and all(dst > src or graph.nodes.kind[dst] == NodeKind.CALL for src, dst in queue)
    slow = graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 10)
    held = retime(slow)[graph.call_node]
    # The host may be a queue's length ahead of the device and no further.
    begun = retime(slow)[graph.event_node - 1]
    length = len(graph.call_node) - len(queue)
    assert (held[length:] >= begun[:-length]).all()


def test_a_release_of_memory_waits_for_the_device():
    builder = TraceBuilder().kernel("k", 18, 500, launch_at_us=10).call("cudaFree", 20, 600)
    graph = build(builder.build())
    assert edges_of(graph, EdgeKind.ALLOCATION) == [(graph.event_node[0], graph.call_node[1])]
    quick = graph_edits.set_duration(graph, graph.event_node, 100_000)
    assert span_ns(graph) - span_ns(quick) == 400_000
    free = graph_edits.set_duration(graph, graph.call_node[[1]], 0)
    assert span_ns(free) == graph.nodes.recorded_ns[graph.event_node[0]]


def _streams_that_wait(sync_events: bool):
    builder = TraceBuilder().kernel("a", 18, 300, launch_at_us=10, stream=7)
    builder.call("cudaEventRecord", 16, 1, correlation=900).call("cudaStreamWaitEvent", 18, 1, correlation=901)
    trace = builder.kernel("b", 319, 50, launch_at_us=20, stream=20).build()
    if not sync_events:
        return trace
    waiting = {"start_ns": [18_000], "name": [0], "device": [0], "stream": [20], "call": [2]}
    syncs = Table(SYNCS, waiting | {"awaited_correlation": [900], "correlation": [901]})
    return replace(trace, tables={**trace.tables, "syncs": syncs})


def test_a_stream_waits_for_an_event_told_or_found_by_the_order_of_calls():
    for sync_events in (True, False):
        graph = build(_streams_that_wait(sync_events))
        first, second = graph.event_node
        assert edges_of(graph, EdgeKind.EVENT_WAIT) == [(first, second - 1)], sync_events


def test_a_kernel_kept_out_by_a_full_device_is_an_inferred_wait():
    builder = TraceBuilder().kernel("fills the device", 18, 5_000, launch_at_us=10, stream=7)
    trace = builder.kernel("small", 4_990, 10, launch_at_us=20, stream=20).build()
    graph = build(trace)
    large, small = graph.event_node
    assert edges_of(graph, EdgeKind.INFERRED_WAIT) == [(large, small - 1)]
    assert retime(graph)[small - 1] == 4_990_000 - graph.origin_ns
    halved = graph_edits.scale(graph, graph.event_node[[0]], 0.5)
    assert retime(graph)[small] - retime(halved)[small] == 2_500_000


def test_a_host_held_by_the_queue_follows_faster_kernels():
    """GIVEN a host that waits for a place in the queue, WHEN kernels get faster, THEN it waits less: it is no cost."""
    builder, begins, now, end, held = TraceBuilder(), [], 0.0, 0.0, 0
    for at in range(3_000):
        begin = max(now + 8, end + 1)
        back = max(now + 5, begins[at - QUEUE_LENGTH]) if at >= QUEUE_LENGTH else now + 5
        builder.kernel("k", begin, 20, launch_at_us=now, launch_for_us=back - now)
        held += back > now + 5
        begins.append(begin)
        now, end = back, begin + 20
    trace = builder.sync(now, end + 10 - now, "cudaDeviceSynchronize").build()
    graph = build(trace)
    assert held > 500
    assert abs(span_ns(graph) / trace.span_ns - 1) < 0.001
    halved = graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.5)
    assert span_ns(graph) / span_ns(halved) > 1.85


def test_a_launch_takes_what_the_quicker_launches_to_an_idle_stream_took():
    builder = TraceBuilder()
    for at, lag in enumerate((6, 8, 8, 8, 20, 30, 500)):
        builder.kernel("k", 1_000 * at + lag, 5, launch_at_us=1_000 * at)
    graph = build(builder.build())
    assert set(graph.edges.lag_ns[graph.edges.kind == EdgeKind.LAUNCH].tolist()) == {8_000}
    late = graph.unexplained_ns[graph.event_node - 1]
    assert late.tolist() == [0, 0, 0, 0, 12_000, 22_000, 492_000]


def test_a_wait_for_an_event_without_any_device_work() -> None:
    graph = build(TraceBuilder().call("cudaEventSynchronize", 0, 10).build())
    assert (graph.edges.kind == EdgeKind.RELEASE).all()


@pytest.mark.parametrize("stream", [-1, 2**32 - 1])
def test_a_wait_for_all_streams_is_told_as_none_of_them(stream: int) -> None:
    builder = TraceBuilder().kernel("a", 18, 300, launch_at_us=10, stream=7)
    builder.kernel("b", 28, 280, launch_at_us=20, stream=20)
    trace = builder.call("cudaDeviceSynchronize", 30, 300, correlation=901).build()
    call = int(np.flatnonzero(trace.calls["correlation"] == 901)[0])
    told = {"start_ns": [30_000], "name": [0], "device": [0], "stream": [stream], "call": [call]}
    syncs = Table(SYNCS, told | {"awaited_correlation": [-1], "correlation": [901]})
    graph = build(replace(trace, tables={**trace.tables, "syncs": syncs}))
    assert len(edges_of(graph, EdgeKind.DEVICE_SYNC)) == 2
