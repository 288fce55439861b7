"""`--try`: which changes are measured, for how long, and what of them is kept as the best."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.code_edits.syntax.diff import unified_diff
from gpuprof.errors import VerificationError
from gpuprof.magics import try_best as module
from gpuprof.magics.fix import _best_measured, combined_source
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.base.guard import Guard
from gpuprof.verification.guards import GuardResult, Status
from gpuprof.verification.measurement import Measurement
from gpuprof.verification.timing.outcome import Outcome

CELL = "loader = DataLoader(rows)\nopt = Adam(p)\nfor x in loader:\n    step(x)\n"
WORKERS = CELL.replace("rows)", "rows, num_workers=2)")
FUSED = CELL.replace("Adam(p)", "Adam(p, fused=True)")
PINNED = CELL.replace("rows)", "rows, pin_memory=True)")


def finding(rule: str, after: str | None, severity: Severity = Severity.HIGH) -> Finding:
    return Finding(rule, severity, "", "", {}, "", diff=None if after is None else unified_diff(CELL, after))


def run_of(*findings: Finding) -> Any:
    run = SimpleNamespace(
        trace=SimpleNamespace(context=SimpleNamespace(cell=Cell(source=CELL))), findings=findings, measured=[]
    )
    run._add_measured = lambda made: run.measured.append(made)
    return run


def measurement(ratio: float, outcome: Outcome = Outcome.FASTER, status: Status = Status.PASSED) -> Measurement:
    guard = GuardResult(Guard.EXACT, status, "same", 0.0)
    return Measurement(outcome, ratio, ratio - 0.1, ratio + 0.1, None, 9, 5.0, guard)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, ...], Any]:
    """What each combination gives; an exception is raised. The budgets given are kept under "budgets"."""
    told: dict[Any, Any] = {"budgets": []}

    def compared(shell: Any, run: Any, change: Any, budget_s: float) -> Measurement:
        told["budgets"].append((change.numbers, budget_s))
        found = told[change.numbers]
        if isinstance(found, BaseException):
            raise found
        return found

    monkeypatch.setattr(module, "_compared", compared)
    return told


def test_those_that_help_are_measured_together(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("small_batch", None), finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(1.5), (3,): measurement(1.2), (1, 3): measurement(1.7)})
    assert module.try_best(None, run, 60.0)
    assert [numbers for numbers, _ in measured["budgets"]] == [(1,), (3,), (1, 3)]
    assert measured["budgets"][0][1] == pytest.approx(20, abs=0.5)
    assert [(each.number, each.rule, each.together) for each in run.measured] == [
        (1, "input_stall", ()),
        (3, "unfused_optimizer", ()),
        (1, "input_stall + unfused_optimizer", (1, 3)),
    ]
    assert "measured best: findings 1 + 3; %gpufix" in capsys.readouterr().out
    assert _best_measured(run) == (1, 3)
    assert combined_source(run, (1, 3)) == WORKERS.replace("Adam(p)", "Adam(p, fused=True)")


def test_a_change_that_does_not_help_is_not_combined(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(1.5), (2,): measurement(1.0, Outcome.NO_EFFECT)})
    assert module.try_best(None, run, 60.0)
    assert "measured best: finding 1; %gpufix" in capsys.readouterr().out
    assert _best_measured(run) == (1,)


def test_changes_of_the_same_line_are_not_combined(measured) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("pageable_h2d_copy", PINNED))
    measured.update({(1,): measurement(1.5), (2,): measurement(1.6)})
    assert module.try_best(None, run, 60.0)
    assert len(run.measured) == 2 and _best_measured(run) == (2,)


def test_what_computes_something_else_is_never_best(measured, capsys) -> None:
    run = run_of(finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(3.0, status=Status.FAILED)})
    assert module.try_best(None, run, 60.0)
    assert "measured best" not in capsys.readouterr().out and _best_measured(run) == ()


def test_why_one_was_not_measured_is_said_and_the_others_go_on(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): VerificationError("line 2 writes the file 'x'"), (2,): measurement(1.2)})
    assert module.try_best(None, run, 60.0)
    said = capsys.readouterr()
    assert "finding 1 not measured: line 2 writes the file 'x'" in said.out + said.err
    assert _best_measured(run) == (2,)


def test_minor_findings_and_those_without_a_change_are_not_tried(measured, capsys) -> None:
    run = run_of(finding("small_batch", None), finding("unfused_optimizer", FUSED, Severity.LOW))
    assert not module.try_best(None, run, 60.0)
    said = capsys.readouterr()
    assert "--try: no finding above low severity has a change to measure" in said.out + said.err


def test_too_short_a_time_measures_nothing(measured, capsys) -> None:
    run = run_of(finding("unfused_optimizer", FUSED))
    assert not module.try_best(None, run, 2.0)
    said = capsys.readouterr()
    assert "the time given to --try is used up" in said.out + said.err and not measured["budgets"]


def test_an_interrupt_keeps_what_was_measured(measured) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(1.5), (2,): KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        module.try_best(None, run, 60.0)
    assert [each.number for each in run.measured] == [1]
