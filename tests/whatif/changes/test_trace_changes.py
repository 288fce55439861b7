"""Changes named by rows and times of the trace."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.model.intervals import Intervals
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.changes.trace_changes import batches_from_workers, copies_from_pinned
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.retime import span_ns
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import run

MS = 1_000_000
# A batch that takes 40 ms to make, then 10 ms of the device that are waited for.
LOOP = [each for _ in range(20) for each in (("work", 40_000), ("kernel", 7, 10_000), ("sync_all",))]


@pytest.fixture
def graph():
    return build(run(LOOP))


@pytest.fixture
def waits(graph):
    at = np.arange(20) * (graph.recorded_span_ns // 20) + graph.origin_ns
    return Intervals(at, at + 40 * MS)


def with_workers(waits, workers, gained=1.0):
    return batches_from_workers(waits, np.full(20, 40 * MS), workers, 2, gained)


def test_two_workers_give_a_batch_each_20_ms(graph, waits):
    assert span_ns(with_workers(waits, 2)(graph)) == pytest.approx(20 * 20 * MS, rel=0.1)


def test_four_workers_leave_what_the_loop_does_itself(graph, waits):
    assert span_ns(with_workers(waits, 4)(graph)) == pytest.approx(20 * 10 * MS, rel=0.1)
    third = span_ns(with_workers(waits, 4, gained=1 / 3)(graph))
    assert span_ns(graph) - third == pytest.approx((span_ns(graph) - 20 * 10 * MS) / 3, rel=0.1)


def test_a_faster_device_does_not_make_the_workers_faster(graph, waits):
    """Simulated together: 20 ms a batch, however little the loop does between two of them."""
    instant = graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.0)
    assert span_ns(with_workers(waits, 2)(instant)) == pytest.approx(20 * 20 * MS, rel=0.1)


def test_one_batch_alone_tells_nothing(graph, waits):
    first = Intervals(waits.starts[:1], waits.ends[:1])
    assert batches_from_workers(first, np.array([40 * MS]), 2, 2)(graph) is graph


def test_pinning_on_the_same_thread_costs_it_its_time():
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.copy("h2d", at + 8, 490, host_memory="pageable", launch_at_us=at, launch_for_us=500)
        builder.kernel("k", at + 510, 50, launch_at_us=at + 502)
    graph = build(builder.sync(9600, 50, "cudaDeviceSynchronize").build())
    copies = np.arange(0, 20, 2)
    nobody = np.empty(0, np.int64)
    free = span_ns(copies_from_pinned(copies, np.full(10, 100_000), nobody)(graph))
    filled = span_ns(copies_from_pinned(copies, np.full(10, 100_000), nobody, 200_000)(graph))
    assert filled - free == pytest.approx(10 * 200_000, rel=0.1)
    assert filled < span_ns(graph)


def test_the_start_of_the_driver_is_not_saved_by_pinning():
    """The first copy of a run begins 40 ms after its call, on a stream that has nothing to do."""
    builder = TraceBuilder()
    builder.copy("h2d", 40_000, 490, host_memory="pageable", launch_at_us=0, launch_for_us=40_495)
    builder.copy("h2d", 40_510, 490, host_memory="pageable", launch_at_us=40_500, launch_for_us=505)
    graph = build(builder.sync(41_010, 50, "cudaDeviceSynchronize").build())
    edited = copies_from_pinned(np.arange(2), np.full(2, 100_000), np.empty(0, np.int64))(graph)
    assert 40_000_000 < span_ns(edited) < span_ns(graph) - 300_000
