"""What holds for every run: identity, monotony, bounds (docs/design/whatif.md, "Properties the tests hold")."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuprof.model.trace import Trace
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import fidelity
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import EdgeKind, NodeKind
from gpuprof.whatif.predict import busy_bound_ns, predict
from gpuprof.whatif.retime import frozen, retime, span_ns
from tests.analyses.random_runs import runs
from tests.whatif.programs import programs, run

any_run = st.one_of(runs(), programs.map(run))


def _some(draw: st.DataObject, nodes: np.ndarray) -> np.ndarray:
    keep = draw.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)))
    return nodes[np.array(keep, bool)]


@given(any_run)
def test_no_edit_is_exactly_the_baseline(trace: Trace):
    found = predict(trace, lambda graph: graph)
    assert found.changed_ns == found.baseline_ns
    assert (found.low_ns, found.central_ns, found.high_ns) in ((0, 0, 0), (None, None, None))


@settings(max_examples=60)
@given(any_run, st.data(), st.floats(0, 1))
def test_shrinking_any_node_is_never_slower(trace, data, factor):
    graph = build(trace)
    shrunk = graph_edits.scale(graph, _some(data, np.arange(len(graph.nodes))), factor)
    assert (retime(shrunk) <= retime(graph)).all()
    assert (retime(frozen(shrunk)) <= retime(frozen(graph))).all()


@settings(max_examples=60)
@given(any_run, st.data())
def test_removing_any_edge_or_node_is_never_slower(trace, data):
    graph = build(trace)
    nodes = _some(data, np.arange(len(graph.nodes)))
    kinds = data.draw(st.lists(st.sampled_from(EdgeKind), max_size=4))
    assert (retime(graph_edits.drop_edge(graph, nodes, *kinds)) <= retime(graph)).all()
    assert (retime(graph_edits.remove(graph, nodes)) <= retime(graph)).all()


@settings(max_examples=60)
@given(any_run, st.data(), st.floats(0, 1), st.floats(0, 1))
def test_a_joint_gain_is_at_least_the_best_and_never_beyond_the_busy_bound(trace, data, host, device):
    graph = build(trace)
    on_host = lambda g: graph_edits.scale(g, g.select(NodeKind.HOST_GAP, NodeKind.CALL), host)  # noqa: E731
    on_device = lambda g: graph_edits.scale(g, g.select(NodeKind.DEVICE_OP), device)  # noqa: E731
    joint = graph_edits.together(on_host, on_device)(graph)
    assert span_ns(joint) <= min(span_ns(on_host(graph)), span_ns(on_device(graph)))
    assert span_ns(joint) >= busy_bound_ns(joint)


@settings(max_examples=60)
@given(any_run)
def test_every_graph_is_in_order_and_never_explains_too_much(trace):
    graph = build(trace)
    assert (graph.unexplained_ns >= 0).all()
    openers = np.flatnonzero(graph.nodes.first)[1:]
    released = graph.edges.dst[graph.edges.kind == EdgeKind.RELEASE]
    assert np.isin(openers, released).all()
    assert not (graph.nodes.kind[graph.edges.dst] == NodeKind.DEVICE_OP).any()
    facts = fidelity(trace, graph)
    assert 0 <= facts.unexplained_ns <= facts.idle_ns
    assert 0 <= facts.unlaunched_share <= 1


@settings(max_examples=60)
@given(any_run)
def test_the_range_holds_the_central_value(trace):
    found = predict(trace, lambda graph: graph_edits.scale(graph, graph.select(NodeKind.HOST_GAP), 0.5))
    assume(found.share is not None)
    assert 0 <= found.low_ns <= found.central_ns <= found.high_ns
