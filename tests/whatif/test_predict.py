from __future__ import annotations

from dataclasses import replace as with_fields

import pytest

from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.predict import Range, Replay, busy_bound_ns, predict
from tests.whatif.programs import run

LOOP = [each for _ in range(10) for each in (("work", 100), ("kernel", 7, 300), ("sync_all",))]


@pytest.fixture
def replay():
    return Replay.of(run(LOOP))


def kernels(factor):
    return lambda graph: graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), factor)


def test_kernels_twice_as_fast_save_half_their_time(replay):
    found = predict(replay, kernels(0.5), basis="kernels twice as fast")
    assert found.grade == "C" and "modelled" in found.reasons[0]
    assert found.central_ns == pytest.approx(10 * 150_000, rel=0.01)
    assert found.low_ns <= found.central_ns <= found.high_ns
    assert found.share == pytest.approx(found.central_ns / replay.graph.recorded_span_ns)
    assert found.basis == "kernels twice as fast"
    assert not found.minor


def test_a_range_of_strengths_spans_the_result(replay):
    found = predict(replay, Range(kernels(0.8), kernels(0.5), kernels(0.2)))
    narrow = predict(replay, kernels(0.5))
    assert found.central_ns == narrow.central_ns
    assert found.low_ns < narrow.low_ns and found.high_ns > narrow.high_ns
    assert found.low_ns == pytest.approx(10 * 60_000, rel=0.02)
    assert found.high_ns == pytest.approx(10 * 240_000, rel=0.02)


def test_the_replay_error_widens_the_range(replay):
    found = predict(replay, kernels(0.5))
    doubtful = Replay(replay.graph, with_fields(replay.facts, step_errors=(0.05,)))
    wider = predict(doubtful, kernels(0.5))
    changed = replay.graph.recorded_span_ns - found.central_ns
    assert wider.central_ns == found.central_ns
    assert wider.low_ns == pytest.approx(found.central_ns - 0.05 * changed, rel=0.01)
    assert wider.high_ns == pytest.approx(found.central_ns + 0.05 * changed, rel=0.01)


def test_no_more_is_promised_than_the_busiest_chain_leaves(replay):
    found = predict(replay, lambda graph: graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP)))
    left = replay.graph.recorded_span_ns - found.high_ns
    assert left >= busy_bound_ns(replay.graph) * (1 - 1e-9)


def test_a_loss_is_a_negative_saving(replay):
    found = predict(replay, kernels(2))
    assert found.central_ns == pytest.approx(-10 * 300_000, rel=0.01)
    assert found.low_ns <= found.central_ns <= found.high_ns < 0
    assert found.minor


def test_a_small_gain_is_minor(replay):
    assert predict(replay, kernels(0.99)).minor


def test_grade_d_has_no_numbers_but_a_reason():
    blind = Replay.of(run([each for each in LOOP if each[0] != "sync_all"]))
    found = predict(blind, kernels(0.5))
    assert (found.low_ns, found.central_ns, found.high_ns, found.share) == (None, None, None, None)
    assert found.grade == "D" and found.reasons
