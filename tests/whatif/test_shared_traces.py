"""The recorded traces: replay, grades, and twins of which one is the other's cure."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import fidelity, replayed
from gpuprof.whatif.grade import grade
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import HOST_WAITS, NodeKind
from gpuprof.whatif.predict import Replay, busy_bound_ns, predict
from gpuprof.whatif.retime import frozen, retime, span_ns

MOST_ERROR = {
    "a100-alexnet-sync-events": 0.005,
    "a100-sam-many-syncs": 0.005,
    "h100-owlv2-dataloader-stacks": 0.005,
    "h100-transformer-tiny-kernels": 0.005,
    "v100-ddp-memory-nccl": 0.005,
    "v100-resnet50-workers0": 0.02,
    "v100-resnet50-workers4": 0.02,
    "a100-ddp-rank3-healthy": 0.042,
}


@pytest.mark.parametrize(("name", "most"), MOST_ERROR.items())
def test_replay_error(shared_trace, name, most):
    trace = shared_trace(name)
    facts = fidelity(trace, build(trace))
    assert facts.error <= most
    assert abs(facts.span_error) <= most


def test_the_last_run_of_alexnet_alone_replays_too(shared_trace):
    """The whole span is 43 s of start-up, which any replay reproduces; the last forward pass is 37 ms."""
    trace = shared_trace("a100-alexnet-sync-events")
    begin = trace.span_start_ns + 43_312_500_000
    graph = build(trace, begin, begin + 60_000_000)
    assert (graph.event_node >= 0).sum() == 40
    facts = fidelity(trace, graph)
    assert abs(facts.span_error) <= 0.005
    assert facts.unexplained_ns < 0.01 * facts.idle_ns


def test_any_trace_has_a_graph_that_obeys(any_shared_trace):
    trace = any_shared_trace
    graph = build(trace)
    facts = fidelity(trace, graph)
    assert 0 <= facts.unexplained_ns <= facts.idle_ns
    assert grade(facts).letter in "ABCD"
    ends, nodes = retime(graph), np.arange(len(graph.nodes))
    for faster in (
        graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.5),
        graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP)),
        graph_edits.drop_edge(graph, nodes, *HOST_WAITS),
    ):
        assert (retime(faster) <= ends).all()
        assert span_ns(faster) >= busy_bound_ns(faster)
    # With its unexplained delays the graph comes back to the record.
    if graph.recorded_span_ns:
        assert span_ns(frozen(graph)) == pytest.approx(graph.recorded_span_ns, rel=0.002)


def test_a_perfect_replay_proves_nothing_where_waits_are_hidden(shared_trace):
    trace = shared_trace("sampled-rank0")
    facts = fidelity(trace, build(trace))
    found = grade(facts)
    assert facts.error < 0.001
    assert found.letter == "D"
    assert "no call such as `cudaStreamSynchronize` was recorded" in found.reasons[0]
    assert any("does not reproduce" in reason for reason in found.reasons)


@pytest.mark.parametrize("name", ["cpu-only-rank34", "no-gpu-activity"])
def test_without_a_device_nothing_is_predicted(shared_trace, name):
    found = predict(shared_trace(name), lambda graph: graph)
    assert found.grade == "D" and found.central_ns is None


# Kernels twice as fast, host cost 0, no host waits: the table of docs/design/whatif.md.
@pytest.mark.parametrize(
    ("name", "kernels", "host", "waits"),
    [
        ("a100-sam-many-syncs", 1.80, 1.09, 1.10),
        ("h100-owlv2-dataloader-stacks", 1.30, 2.1, 1.33),
        ("h100-transformer-tiny-kernels", 1.00, 6.0, 1.00),
        ("v100-ddp-memory-nccl", 1.00, 1.70, 1.00),
        ("a100-ddp-rank3-healthy", 1.09, 1.30, 1.13),
    ],
)
def test_the_effect_of_three_edits(shared_trace, name, kernels, host, waits):
    trace = shared_trace(name)
    graph = build(trace, int(trace.calls["start_ns"][0]))
    span, nodes = span_ns(graph), np.arange(len(graph.nodes))
    idle = graph_edits.scale(graph, graph.select(NodeKind.HOST_GAP, NodeKind.CALL), 0)
    assert span / span_ns(graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.5)) == pytest.approx(
        kernels, rel=0.06
    )
    assert span / span_ns(idle) == pytest.approx(host, rel=0.06)
    assert span / span_ns(graph_edits.drop_edge(graph, nodes, *HOST_WAITS)) == pytest.approx(waits, rel=0.06)


def test_pageable_copies_made_pinned_take_what_the_pinned_twin_took(shared_trace):
    slow, cured = shared_trace("a100-copies-pageable"), shared_trace("a100-copies-pinned")
    syncs = np.flatnonzero(slow.names_of(slow.calls) == "cudaStreamSynchronize")

    def pin(graph):
        pinned = graph_edits.unblock_copies(graph, graph.event_node, cured.device_events["duration_ns"])
        return graph_edits.remove(pinned, graph.call_node[syncs])

    found = predict(slow, pin)
    assert slow.span_ns - found.central_ns == pytest.approx(cured.span_ns, rel=0.01)


def test_a_loader_without_wait_takes_what_the_cured_twin_took(shared_trace):
    slow, cured = shared_trace("v100-resnet50-workers0"), shared_trace("v100-resnet50-workers4")
    replay = Replay.of(slow)
    edited = graph_edits.scale_host_time(replay.graph, Results(slow).get(Phases).input, 0.0)
    begin = slow.steps["start_ns"]
    end = begin + slow.steps["duration_ns"]
    ends = retime(edited)
    steps = replayed(edited, ends, end) - replayed(edited, ends, begin)
    # The cure still waited 1.4 ms a step for its workers, and its host was slowed by them.
    assert np.median(steps) == pytest.approx(np.median(cured.steps["duration_ns"]), rel=0.07)
    assert np.median(steps) < 0.8 * np.median(slow.steps["duration_ns"])
