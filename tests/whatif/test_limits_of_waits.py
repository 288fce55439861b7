"""Where the graph draws a line between a wait and chance: just inside and just beyond."""

from __future__ import annotations

import pytest

from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import EdgeKind
from tests.support.trace_builder import TraceBuilder
from tests.whatif.told import edges, lasting


def inferred(begin: float, other: tuple[float, float], *, copy: bool = False) -> set[str]:
    """A kernel `y` (or a copy) of stream 20, launched at 20 µs, that could begin at 28, and an operation of stream 7.

    Two quick launches on stream 9 show the lag of 8 µs.
    """
    builder = TraceBuilder().kernel("k", 8, 2, launch_at_us=0, stream=9).kernel("k", 2008, 2, launch_at_us=2000)
    builder.copy("h2d", 2108, 2, launch_at_us=2100, stream=9)
    builder.kernel("x", other[0], other[1] - other[0], launch_at_us=other[0] - 8, stream=7)
    if copy:
        builder.copy("h2d", begin, 10, launch_at_us=20, stream=20)
    else:
        builder.kernel("y", begin, 10, launch_at_us=20, stream=20)
    trace = builder.build()
    return {edge for edge in edges(trace, build(trace)) if edge.startswith("INFERRED")}


@pytest.mark.parametrize(
    ("begin", "other", "lag"),
    [
        (31, (9, 31), None),  # 3 µs late is as good as in time
        (31.001, (9, 31.001), "+0"),
        (128, (9, 108), "+20"),  # it ran through 80 of 100 µs
        (128, (9, 107.999), None),
        (228, (9, 203), "+25"),
        (228, (9, 202.999), None),
        (128, (100, 116), "+2"),  # it ended 12 µs before
        (128, (100, 115.999), None),
        (128, (100, 127), "+1"),
        (228, (9, 328), "-100"),  # its last blocks drain for 100 µs
        (228, (9, 328.001), None),
        (228, (228, 240), None),  # it began at the same time
    ],
)
def test_what_a_late_kernel_waited_for(begin: float, other: tuple[float, float], lag: str | None) -> None:
    found = inferred(begin, other)
    assert [edge.rpartition(" ")[2] for edge in found] == ([] if lag is None else [lag])


@pytest.mark.parametrize(("ended", "lag"), [(128, "+0"), (127.999, "+0.001"), (128.001, None)])
def test_a_copy_waits_for_what_has_ended(ended: float, lag: str | None) -> None:
    found = inferred(128, (9, ended), copy=True)
    assert [edge.rpartition(" ")[2] for edge in found] == ([] if lag is None else [lag])


def crowded(before: int, after: int) -> set[str]:
    """`y` waits for `x`, and others end between: so many before `y` begins, so many while `x` drains."""
    builder = TraceBuilder().kernel("k", 8, 2, launch_at_us=0, stream=9).kernel("k", 2008, 2, launch_at_us=2000)
    ended = 990 if before else 1050
    builder.kernel("x", 9, ended - 9, launch_at_us=1, stream=7)
    for number in range(before):
        builder.kernel("z", 990.5 + number / 10, 0.01, launch_at_us=980, stream=100 + number, device=1)
    for number in range(after):
        builder.kernel("z", 1000.5 + number / 10, 0.01, launch_at_us=995, stream=200 + number, device=1)
    trace = builder.kernel("y", 1000, 10, launch_at_us=20, stream=20).build()
    return {edge for edge in edges(trace, build(trace)) if edge.startswith("INFERRED")}


@pytest.mark.parametrize(("before", "after", "found"), [(11, 0, 1), (12, 0, 0), (0, 14, 1), (0, 15, 0)])
def test_how_many_others_may_lie_between(before: int, after: int, found: int) -> None:
    """Its own end is one of those after."""
    assert len(crowded(before, after)) == found


@pytest.mark.parametrize(("gap", "usual"), [(25, 25), (25.001, 1)])
def test_a_longer_gap_between_operations_of_a_stream_is_a_wait(gap: float, usual: float) -> None:
    """All were launched long before."""
    builder = TraceBuilder().kernel("a", 100, 50, launch_at_us=0).kernel("b", 150 + gap, 50, launch_at_us=10)
    trace = builder.build()
    assert lasting(trace, build(trace))[f"<b@{150 + gap:g}"] == usual


@pytest.mark.parametrize(("launched", "usual"), [(94, 3), (94.001, 1)])
def test_a_gap_counts_where_the_next_was_launched_in_time(launched: float, usual: float) -> None:
    """6 µs before the operation before it ends; else the usual 1 µs is taken."""
    builder = TraceBuilder().kernel("a", 8, 92, launch_at_us=0).kernel("b", 103, 50, launch_at_us=launched)
    trace = builder.build()
    assert lasting(trace, build(trace))["<b@103"] == usual


@pytest.mark.parametrize(("lag", "usual"), [(100, "+100"), (100.001, "+6")])
def test_a_launch_that_takes_longer_waited_for_something(lag: float, usual: str) -> None:
    trace = TraceBuilder().kernel("a", lag, 10, launch_at_us=0).build()
    assert edges(trace, build(trace), EdgeKind.RELEASE) == {f"LAUNCH <cudaLaunchKernel@0 → <a@{lag:g} {usual}"}


@pytest.mark.parametrize(("pause", "handed"), [(50, True), (49.999, False)])
def test_the_shortest_pause_that_another_thread_fills(pause: float, handed: bool) -> None:
    builder = TraceBuilder().thread("main").kernel("a", 10, 1, launch_at_us=0, launch_for_us=10)
    builder.thread("other").kernel("b", 12, 1, stream=20, launch_at_us=2, launch_for_us=10)
    builder.kernel("b", 30, 1, stream=20, launch_at_us=12, launch_for_us=42)
    builder.thread("main").kernel("c", 100, 1, launch_at_us=10 + pause)
    trace = builder.build()
    assert any(edge.startswith("HAND_OFF") for edge in edges(trace, build(trace))) is handed


@pytest.mark.parametrize(("filled", "handed"), [(40, True), (39.999, False)])
def test_a_pause_is_filled_to_four_fifths(filled: float, handed: bool) -> None:
    builder = TraceBuilder().thread("main").kernel("a", 10, 1, launch_at_us=0, launch_for_us=10)
    builder.thread("other").kernel("b", 12, 1, stream=20, launch_at_us=2, launch_for_us=10)
    builder.kernel("b", 30, 1, stream=20, launch_at_us=12, launch_for_us=filled)
    builder.thread("main").kernel("c", 100, 1, launch_at_us=60)
    trace = builder.build()
    assert any(edge.startswith("HAND_OFF") for edge in edges(trace, build(trace))) is handed


@pytest.mark.parametrize(("overlap", "chains"), [(0, 1), (2, 1), (2.001, 2)])
def test_threads_that_hardly_overlap_take_turns(overlap: float, chains: int) -> None:
    """One calls from 0 to 100 µs, the other for 100 µs from then on, or a little before."""
    builder = TraceBuilder().thread("main").kernel("a", 10, 1, launch_at_us=0, launch_for_us=100)
    builder.thread("other").kernel("b", 300, 1, stream=7, launch_at_us=100 - overlap, launch_for_us=100)
    graph = build(builder.build())
    hosts = {int(graph.nodes.chain[node]) for node in graph.call_node}
    assert len(hosts) == chains


@pytest.mark.parametrize(("late", "operation"), [(0, "a"), (50, "a"), (50.001, None)])
def test_clocks_disagree_a_little(late: float, operation: str | None) -> None:
    """The last kernel ends after the wait for it has returned; then the one before it is what was waited for."""
    builder = TraceBuilder().kernel("a", 10, 50, launch_at_us=0).kernel("b", 60, 40 + late, launch_at_us=6)
    trace = builder.sync(20, 80, "cudaDeviceSynchronize").build()
    found = [edge for edge in edges(trace, build(trace)) if edge.startswith("DEVICE_SYNC")]
    assert [edge.split()[1][0] for edge in found] == ([operation] if operation else [])


@pytest.mark.parametrize(("took", "own"), [(9, 9), (10, 10), (11, 10)])
def test_a_wait_without_another_of_its_name_takes_ten_microseconds_at_most(took: float, own: float) -> None:
    builder = TraceBuilder().kernel("a", 8, 12, launch_at_us=0).sync(20 - took / 2, took)
    trace = builder.build()
    assert lasting(trace, build(trace))[f"cudaStreamSynchronize@{20 - took / 2:g}"] == own


@pytest.mark.parametrize(("took", "waited"), [(30, False), (30.001, True)])
def test_an_allocation_that_stood_takes_three_times_the_usual(took: float, waited: bool) -> None:
    """A quarter of them take 10 µs or less; the kernel ends 1 µs before the last returns."""
    builder = TraceBuilder().kernel("a", 8, 1991 + took, launch_at_us=0)
    for number in range(4):
        builder.call("cudaMalloc", 100 + 100 * number, 10)
    trace = builder.call("cudaMalloc", 2000, took).build()
    assert any(edge.startswith("ALLOCATION") for edge in edges(trace, build(trace))) is waited
