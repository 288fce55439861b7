"""Many launches as one CUDA graph: formula 4 of docs/design/whatif.md."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.model import intervals
from gpuprof.whatif.changes.restructure import GRAPH_LAUNCH_NS, stretches
from gpuprof.whatif.changes.trace_changes import launched_as_graphs, launching_scaled
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import HOST_WAITS
from gpuprof.whatif.retime import span_ns
from tests.whatif.programs import LAUNCH_LAG_US, RETURN_LAG_US, run

LONGEST_NS = 1_000_000
SMALL = [each for _ in range(50) for each in (("work", 30), ("kernel", 7, 4))]


def whole(graph):
    return intervals.single(graph.origin_ns, graph.origin_ns + graph.recorded_span_ns + 1)


def test_the_kernels_remain_with_a_microsecond_between_them():
    graph = build(run([*SMALL, ("sync_all",)]))
    edited = launched_as_graphs(whole(graph), LONGEST_NS)(graph)
    # The first kernel's host work stays before the graph's launch.
    most = (30 + LAUNCH_LAG_US + 50 * 5 + RETURN_LAG_US) * 1000 + GRAPH_LAUNCH_NS
    assert 50 * 4_000 < span_ns(edited) <= most < span_ns(graph) / 4


def test_a_wait_ends_a_stretch_and_stays():
    graph = build(run([*SMALL, ("sync_all",), *SMALL, ("sync_all",)]))
    calls, starts = stretches(graph, whole(graph), LONGEST_NS)
    assert (len(calls), int(starts.sum())) == (100, 2)
    edited = launched_as_graphs(whole(graph), LONGEST_NS)(graph)
    assert np.isin(edited.edges.kind, HOST_WAITS).sum() == np.isin(graph.edges.kind, HOST_WAITS).sum()
    assert edited.duration_ns[calls].sum() == 2 * GRAPH_LAUNCH_NS


def test_long_host_work_stays():
    graph = build(run([*SMALL, ("work", 5000), *SMALL, ("sync_all",)]))
    edited = launched_as_graphs(whole(graph), LONGEST_NS)(graph)
    assert 5_000_000 < span_ns(edited) < 5_700_000


def test_what_lies_outside_stays():
    graph = build(run([*SMALL, ("sync_all",)]))
    assert launched_as_graphs(intervals.EMPTY, LONGEST_NS)(graph) is graph
    first = intervals.single(graph.origin_ns, graph.origin_ns + graph.recorded_span_ns // 2)
    half = span_ns(launched_as_graphs(first, LONGEST_NS)(graph))
    assert span_ns(launched_as_graphs(whole(graph), LONGEST_NS)(graph)) < half < span_ns(graph)


def test_cheaper_launching_saves_its_share_of_the_hosts_time():
    graph = build(run([*SMALL, ("sync_all",)]))
    cheaper = launching_scaled(whole(graph), LONGEST_NS, 0.7)(graph)
    assert span_ns(graph) - span_ns(cheaper) == pytest.approx(0.3 * 50 * 35_000, rel=0.05)
