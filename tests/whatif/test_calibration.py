"""Runs recorded by a recorder that slows their host, against the same runs without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import RunContext, Window
from gpuprof.model.schema import STEPS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.report.joint import Joint
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.retimed import retimed
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.predict import Replay, predict
from tests.whatif.programs import Program, run

STEPS_RUN = 12


def recorded(step: Program, slowed: float = 1.0, *, plain: bool = True) -> Trace:
    """The steps with host work `slowed` times as long; the stopwatch knows how long they take without that."""
    trace, step_ns = _run(step, slowed)
    _, plain_ns = _run(step, 1.0)
    window = Window(steps_recorded=STEPS_RUN, recorded_step_ns=step_ns, plain_step_ns=plain_ns if plain else None)
    return replace(trace, context=RunContext(window=window))


def _run(step: Program, slowed: float) -> tuple[Trace, float]:
    slow: Program = [(name, rest[0] * slowed) if name == "work" else (name, *rest) for name, *rest in step]
    trace = run(slow * STEPS_RUN)
    length = trace.span_ns // STEPS_RUN
    rows = {
        "start_ns": [trace.span_start_ns + at * length for at in range(STEPS_RUN)],
        "duration_ns": [length] * STEPS_RUN,
        "number": list(range(STEPS_RUN)),
    }
    return replace(trace, tables={**trace.tables, "steps": Table(STEPS, rows)}), float(length)


def no_work(graph: Graph) -> Graph:
    return graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP))


def fast_kernels(graph: Graph) -> Graph:
    return graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.5)


def no_waits(graph: Graph) -> Graph:
    calls = graph.select(NodeKind.CALL)
    return graph_edits.remove(graph, calls[1::2])


HOST_BOUND: Program = [("work", 300), ("kernel", 7, 100), ("sync_all",)]
BALANCED: Program = [("work", 250), ("kernel", 7, 280), ("work", 40), ("sync", 7)]


@pytest.mark.parametrize("slowed", [1.3, 2.0])
@pytest.mark.parametrize("step", [HOST_BOUND, BALANCED])
@pytest.mark.parametrize("edit", [no_work, fast_kernels, no_waits])
def test_the_saving_is_that_of_the_run_without_the_recorder(step: Program, slowed: float, edit: GraphEdit) -> None:
    slow, plain = Replay.of(recorded(step, slowed)), Replay.of(recorded(step))
    assert slow.calibration is not None and plain.calibration is None
    assert slow.calibration.host_factor == pytest.approx(1 / slowed, rel=0.06)
    assert slow.run_ns == pytest.approx(plain.run_ns, rel=0.01)
    told, true = predict(slow, edit), predict(plain, edit)
    assert told.central_ns is not None and true.central_ns is not None
    assert told.central_ns == pytest.approx(true.central_ns, rel=0.03, abs=0.01 * plain.run_ns)
    assert told.share == pytest.approx(true.share, rel=0.03, abs=0.01)
    uncalibrated = predict(Replay.of(recorded(step, slowed, plain=False)), edit)
    assert uncalibrated.share != pytest.approx(true.share, rel=0.03)


def test_the_grade_says_what_was_done() -> None:
    found = predict(Replay.of(recorded(HOST_BOUND, 1.5)), no_work)
    assert found.grade == "B" and "scaled" in found.reasons[0]
    assert predict(Replay.of(recorded(HOST_BOUND)), no_work).grade == "A"


def test_unknown_unseen_or_inexplicable_costs_change_nothing() -> None:
    for trace in (recorded(HOST_BOUND, 1.5, plain=False), recorded(HOST_BOUND, 1.01)):
        replay = Replay.of(trace)
        assert replay.calibration is None and replay.run_ns == replay.graph.recorded_span_ns
    trace = recorded(HOST_BOUND)
    window = Window(steps_recorded=STEPS_RUN, recorded_step_ns=400e3, plain_step_ns=40e3)
    assert Replay.of(replace(trace, context=RunContext(window=window))).calibration is None


def test_the_replay_error_is_that_of_the_run_as_recorded() -> None:
    trace = recorded(BALANCED, 1.6)
    assert Replay.of(trace).facts == Replay.of(replace(trace, context=RunContext())).facts


def test_the_finding_says_so() -> None:
    bound = Saving(0, 2e6, 2e6, 0.5, "C", "upper bound")
    finding = Finding("some_rule", Severity.HIGH, "A title", "An explanation.", {}, "A change.", saving=bound)
    slow, plain = (retimed(Results(recorded(HOST_BOUND, f)), finding, no_work, "simulated") for f in (1.6, 1.0))
    assert slow.saving is not None and plain.saving is not None
    assert slow.saving.basis == "simulated, with the host as fast as without the recording"
    assert (slow.saving.whole, plain.saving.whole) == ("the time without recording", "the recorded time")
    assert slow.saving.share == pytest.approx(plain.saving.share, rel=0.03)
    assert slow.saving.central_ns == pytest.approx(plain.saving.central_ns, rel=0.03)


def test_changes_together_are_those_of_the_run_without_the_recorder() -> None:
    found = Finding("some_rule", Severity.HIGH, "A title", "Why.", {}, "A change.")

    def joint(slowed: float) -> Joint:
        results = Results(recorded(BALANCED, slowed))
        both = Joint.of(results, tuple(retimed(results, found, edit, "simulated") for edit in (fast_kernels, no_waits)))
        assert both is not None
        return both

    assert joint(1.6).central == pytest.approx(joint(1.0).central, rel=0.02)
    assert "the run without recording" in str(joint(1.6)) and "the recorded run" in str(joint(1.0))


def test_recorded_runs_of_others_are_as_they_were(shared_trace: Callable[[str], Any]) -> None:
    assert Replay.of(shared_trace("h100-transformer-tiny-kernels")).calibration is None
