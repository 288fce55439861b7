from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.model.context import Window
from gpuprof.whatif.changes import graph_edits, restructure
from gpuprof.whatif.fidelity import Fidelity, fidelity
from gpuprof.whatif.grade import Nature, grade, nature
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import EdgeKind, NodeKind
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import run

MS = 1_000_000
FAITHFUL = Fidelity(
    span_error=0.001,
    span_ns=100 * MS,
    step_errors=(0.01, -0.015),
    idle_ns=20 * MS,
    unexplained_ns=MS,
    late_ns=2 * MS,
    inferred_ns=0,
    step_spread=0.05,
    unexplained_wait_ns=0,
    waits_recorded=True,
    sync_events=True,
    unlaunched_share=0.0,
    operations=100,
    calls=200,
)


def test_a_faithful_replay_of_a_removal_is_graded_a_without_excuse():
    assert grade(FAITHFUL).letter == "A"
    assert grade(FAITHFUL).reasons == ()


@pytest.mark.parametrize(
    ("change", "letter", "words"),
    [
        ({"step_errors": (0.0, -0.03)}, "B", "worst step is 3.0 % off"),
        ({"step_errors": (), "span_error": -0.07}, "C", "the run is 7.0 % off"),
        ({"step_errors": (0.2,)}, "D", "20 % off"),
        ({"unexplained_ns": 2 * MS - 1}, "B", "does not reproduce"),
        ({"unexplained_ns": 5 * MS - 1}, "C", "does not reproduce"),
        (
            {"unexplained_ns": 6 * MS},
            "D",
            "the simulation does not reproduce 30 % of the device's idle time (6.00 ms of 20.0 ms)",
        ),
        ({"waits_recorded": False}, "D", "no call such as"),
        ({"sync_events": False}, "B", "inferred"),
        ({"unexplained_wait_ns": MS}, "C", "synchronising calls took 1.00 ms without"),
        ({"unexplained_wait_ns": 6 * MS}, "D", "synchronising calls took 6.00 ms without"),
        ({"unlaunched_share": 0.2}, "C", "20 % of the device operations have no recorded launch"),
        ({"inferred_ns": 6 * MS}, "C", "6.00 ms of delays"),
        ({"operations": 0}, "D", "no device operations"),
    ],
)
def test_each_limit_lowers_the_grade_and_says_why(change, letter, words):
    found = grade(replace(FAITHFUL, **change))
    assert found.letter == letter
    assert any(words in reason for reason in found.reasons)


def test_the_worst_reason_comes_first():
    found = grade(replace(FAITHFUL, sync_events=False, waits_recorded=False, unlaunched_share=0.2))
    assert [words.split()[0] for words in found.reasons] == ["no", "20", "synchronisation"]


def test_little_idle_time_that_is_unexplained_matters_little():
    busy = replace(FAITHFUL, idle_ns=MS // 2, unexplained_ns=MS // 2)
    assert grade(busy).letter == "A"
    assert grade(replace(busy, idle_ns=4 * MS, unexplained_ns=4 * MS)).letter == "D"


def test_an_edit_says_itself_what_it_did():
    graph = build(run([("kernel", 7, 100), ("work", 50), ("kernel", 7, 100), ("sync_all",)]))
    kernels, gaps = graph.select(NodeKind.DEVICE_OP), graph.select(NodeKind.HOST_GAP)
    sync = graph.call_node[[-1]]
    removals = (graph_edits.remove(graph, kernels), graph_edits.drop_edge(graph, sync, EdgeKind.DEVICE_SYNC))
    assert all(nature(graph, each) == Nature(removes_only=True, models_kernels=False) for each in removals)
    assert nature(graph, graph_edits.scale(graph, gaps, 0.5)) == Nature(removes_only=False, models_kernels=False)
    assert nature(graph, graph_edits.scale(graph, kernels, 0.5)).models_kernels
    moved = restructure.move_stream(graph, kernels[:1], (0, 99))
    assert nature(graph, moved) == Nature(removes_only=False, models_kernels=False)
    longer = graph.with_lags(graph.edges.lag_ns + 1)
    assert not nature(graph, longer).removes_only


def test_modelled_kernels_give_a_range_only():
    assert grade(FAITHFUL, Nature(removes_only=False, models_kernels=True)).letter == "C"
    assert grade(FAITHFUL, Nature(removes_only=False, models_kernels=False)).letter == "B"


def test_hidden_waits_are_not_taken_for_faith():
    """GIVEN host gaps that hide waits, WHEN the host chain reproduces the span, THEN the device's starts tell."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1_000):
        builder.kernel("late", at + 600, 50, launch_at_us=at)
    trace = builder.build()
    facts = fidelity(trace, build(trace))
    assert facts.error < 0.001 + 600 / 9_650
    assert facts.unexplained_share > 0.5
    assert not facts.waits_recorded
    assert grade(facts).letter == "D"


def test_steps_are_compared_one_by_one():
    trace = run([("work", 100), ("kernel", 7, 100), ("sync_all",), ("work", 100), ("kernel", 7, 200), ("sync_all",)])
    steps = trace.tables["steps"].schema
    columns = {"start_ns": np.array([0, 223_000]), "duration_ns": np.array([223_000, 300_000]), "number": [0, 1]}
    stepped = replace(trace, tables={**trace.tables, "steps": type(trace.steps)(steps, columns)})
    facts = fidelity(stepped, build(stepped))
    assert len(facts.step_errors) == 2
    assert facts.error < 0.03
    assert facts.step_spread == pytest.approx(300 / 223 - 1)


def test_without_a_waiting_call_nothing_waited_in_a_recording_of_ours():
    """Its profiler records every call; a foreign trace may leave them out."""
    builder = TraceBuilder().kernel("a", 10, 50, launch_at_us=0).kernel("b", 70, 50, launch_at_us=5)
    foreign = builder.build()
    assert not fidelity(foreign, build(foreign)).waits_recorded
    ours = builder.context(window=Window(cell_start_ns=0, cell_end_ns=200_000)).build()
    assert fidelity(ours, build(ours)).waits_recorded


def test_the_unexplained_time_of_a_device_that_is_hardly_idle_is_a_small_part_of_the_run():
    busy = replace(FAITHFUL, span_ns=1_000 * MS, idle_ns=20 * MS)
    letters = [grade(replace(busy, unexplained_ns=ms * MS)).letter for ms in (4, 9, 19)]
    assert letters == ["A", "B", "C"]
    assert grade(replace(busy, idle_ns=80 * MS, unexplained_ns=40 * MS)).letter == "D"
