from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from gpuprof.errors import UsageError
from gpuprof.whatif.graph.nodes import EdgeKind, Edges, NodeKind, Nodes
from gpuprof.whatif.graph.traversal import make_traversal
from gpuprof.whatif.retime import frozen, retime, span_ns
from tests.whatif.graphs import by_definition, graphs


@given(graphs())
def test_the_pass_gives_what_the_definition_says(graph):
    assert retime(graph).tolist() == by_definition(graph)


@given(graphs())
def test_frozen_delays_come_on_top_of_what_a_node_waits_for(graph):
    late = frozen(graph)
    assert retime(late).tolist() == by_definition(late)
    assert (retime(late) >= retime(graph)).all()


@given(graphs())
def test_an_order_unlike_the_recorded_one_is_sorted_anew(graph):
    unordered = replace(graph, nodes=replace(graph.nodes, recorded_ns=0 * graph.nodes.recorded_ns))
    assert retime(unordered).tolist() == by_definition(graph)


@given(graphs())
def test_other_durations_reuse_the_plan(graph):
    doubled = graph.with_durations(2 * graph.duration_ns)
    assert doubled.plan is graph.plan
    assert retime(doubled).tolist() == by_definition(doubled)


def test_a_circle_is_refused():
    nodes = Nodes(
        kind=np.array([NodeKind.ORIGIN, *[NodeKind.CALL] * 4], np.uint8),
        row=np.full(5, -1),
        chain=np.array([0, 1, 1, 2, 2]),
        recorded_ns=np.array([0, 1, 2, 1, 2]),
    )
    edges = Edges.join(
        Edges.of(np.array([0, 0]), np.array([1, 3]), 0, EdgeKind.RELEASE),
        Edges.of(np.array([2, 4]), np.array([3, 1]), 0, EdgeKind.HAND_OFF),
    )
    with pytest.raises(UsageError, match="cycle"):
        make_traversal(nodes, edges)


@given(graphs())
def test_the_span_is_the_last_end(graph):
    assert span_ns(graph) == max(by_definition(graph))
