from __future__ import annotations

import numpy as np
import pytest

from gpuprof.errors import UsageError
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.whatif.changes import graph_edits, restructure
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import HOST_WAITS, EdgeKind, NodeKind
from gpuprof.whatif.retime import retime, span_ns
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import run


@pytest.fixture
def trace():
    """Three kernels in a row, 100 µs each, then a wait: bound by the device."""
    return run([("kernel", 7, 100), ("kernel", 7, 100), ("kernel", 7, 100), ("sync_all",), ("work", 40)])


@pytest.fixture
def graph(trace):
    return build(trace)


def test_scale_halves_what_it_is_given_and_nothing_else(graph):
    operations = graph.select(NodeKind.DEVICE_OP)
    halved = graph_edits.scale(graph, operations[:1], 0.5)
    assert span_ns(graph) - span_ns(halved) == 50_000
    assert (np.delete(halved.duration_ns, operations[0]) == np.delete(graph.duration_ns, operations[0])).all()


def test_negative_times_are_refused(graph):
    with pytest.raises(UsageError, match="0 or more"):
        graph_edits.scale(graph, np.array([1]), -1)
    with pytest.raises(UsageError, match="0 or more"):
        graph_edits.set_duration(graph, np.array([1]), -5)
    with pytest.raises(UsageError, match="0 or more"):
        graph_edits.scale_host_time(graph, intervals.EMPTY, float("nan"))


def test_a_removed_kernel_takes_its_gap_along(graph):
    removed = graph_edits.remove(graph, graph.select(NodeKind.DEVICE_OP)[1:2])
    assert span_ns(graph) - span_ns(removed) == 101_000


def test_a_removed_wait_lets_the_host_run_on(trace, graph):
    calls = graph.call_node[[-1]]
    edited = graph_edits.remove(graph, calls)
    assert not np.isin(edited.edges.kind, HOST_WAITS).any()
    assert span_ns(edited) == max(15_000 + 40_000, 8_000 + 302_000)


def test_dropped_edges_are_those_asked_for(graph):
    call = graph.call_node[[-1]]
    assert graph_edits.drop_edge(graph, call, EdgeKind.LAUNCH) is graph
    edited = graph_edits.drop_edge(graph, call, EdgeKind.DEVICE_SYNC)
    assert len(edited.edges.src) == len(graph.edges.src) - 1


def test_host_time_within_a_range_is_scaled(graph):
    work = Intervals(np.array([graph.origin_ns + graph.recorded_span_ns - 20_000]), np.array([graph.origin_ns + 10**9]))
    halved = graph_edits.scale_host_time(graph, work, 0.5)
    assert span_ns(graph) - span_ns(halved) == 10_000


def test_a_pinned_copy_no_longer_holds_the_host():
    trace = (
        TraceBuilder()
        .copy("h2d", 300, 700, host_memory="pageable", launch_at_us=10, launch_for_us=980)
        .kernel("k", 1010, 50, launch_at_us=1000)
        .operator("aten::other", 1005, 800)
        .sync(1805, 10, "cudaDeviceSynchronize")
        .build()
    )
    graph = build(trace)
    copy = graph.event_node[[0]]
    pinned = graph_edits.unblock_copies(graph, copy, 200_000)
    assert not (pinned.edges.kind == EdgeKind.BLOCKING_COPY).any()
    assert pinned.duration_ns[copy] == 200_000
    # The host saves the call's wait, all but the 10 µs an asynchronous call may take.
    assert span_ns(graph) - span_ns(pinned) == pytest.approx(970_000, abs=5_000)


def test_a_moved_copy_overlaps_with_the_kernels_before_it():
    trace = run([("kernel", 7, 500), ("kernel", 7, 300), ("kernel", 7, 100), ("sync_all",)])
    graph = build(trace)
    first, second, third = graph.select(NodeKind.DEVICE_OP)
    moved = restructure.move_stream(graph, np.array([second]), (0, 99))
    assert moved.streams[max(moved.streams)] == (0, 99)
    ends = retime(moved)
    begins = {name: ends[moved.event_node[row] - 1] for row, name in enumerate(("first", "second", "third"))}
    assert begins["second"] == 5_000 + 8_000
    assert begins["third"] == pytest.approx(8_000 + 500_000 + 1_000, abs=1)
    assert span_ns(graph) - span_ns(moved) == pytest.approx(301_000, abs=10)
    assert third > second > first


def test_a_moved_operation_is_waited_for_by_its_consumer():
    trace = run([("kernel", 7, 100), ("kernel", 7, 900), ("kernel", 7, 100), ("sync_all",)])
    graph = build(trace)
    _, second, _ = graph.select(NodeKind.DEVICE_OP)
    ends = retime(restructure.move_stream(graph, np.array([second]), (0, 99)))
    assert ends.max() == pytest.approx(13_000 + 900_000 + 100_000 + 10_000, abs=1_000)


def test_an_impossible_order_of_streams_is_refused():
    trace = run([("kernel", 7, 100), ("kernel", 7, 100), ("sync_all",)])
    graph = build(trace)
    first, second = graph.select(NodeKind.DEVICE_OP)
    with pytest.raises(UsageError, match="cycle"):
        restructure.move_stream(
            graph, np.array([second]), (0, 99), consumers=np.array([first]), producers=np.array([first])
        )
