"""`--try`: which changes are measured, for how long, and what of them is kept as the best."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.code_edits.syntax.diff import unified_diff
from gpuprof.errors import VerificationError
from gpuprof.magics import try_best as module
from gpuprof.magics.fix import best_measured, combined_source
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


def measurement(
    ratio: float, outcome: Outcome = Outcome.FASTER, status: Status = Status.PASSED, **more: Any
) -> Measurement:
    guard = GuardResult(Guard.EXACT, status, "same", 0.0)
    return Measurement(outcome, ratio, ratio - 0.1, ratio + 0.1, None, 9, 5.0, guard, **more)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, ...], Any]:
    """What each combination gives; an exception is raised. The budgets given are kept under "budgets"."""
    told: dict[Any, Any] = {"budgets": []}

    def compared(shell: Any, run: Any, change: Any, budget_s: float, on_progress: Any) -> Measurement:
        on_progress("1 pair")
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
    module.try_best(None, run, 60.0)
    assert [numbers for numbers, _ in measured["budgets"]] == [(1,), (3,), (1, 3)]
    assert measured["budgets"][0][1] == pytest.approx(20, abs=0.5)
    assert [(each.number, each.rule, each.together) for each in run.measured] == [
        (1, "input_stall", ()),
        (3, "unfused_optimizer", ()),
        (1, "input_stall + unfused_optimizer", (1, 3)),
    ]
    assert "measured best: findings 1 + 3; %gpufix" in capsys.readouterr().out
    assert best_measured(run) == (1, 3)
    assert combined_source(run, (1, 3)) == WORKERS.replace("Adam(p)", "Adam(p, fused=True)")


def test_a_change_that_does_not_help_is_not_combined(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(1.5), (2,): measurement(1.0, Outcome.NO_EFFECT)})
    module.try_best(None, run, 60.0)
    assert "measured best: finding 1; %gpufix" in capsys.readouterr().out
    assert best_measured(run) == (1,)


def test_changes_of_the_same_line_are_not_combined(measured) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("pageable_h2d_copy", PINNED))
    measured.update({(1,): measurement(1.5), (2,): measurement(1.6)})
    module.try_best(None, run, 60.0)
    assert len(run.measured) == 2 and best_measured(run) == (2,)


def test_what_computes_something_else_is_never_best(measured, capsys) -> None:
    run = run_of(finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(3.0, status=Status.FAILED)})
    module.try_best(None, run, 60.0)
    assert "measured best" not in capsys.readouterr().out and best_measured(run) == ()


def test_why_one_was_not_measured_is_said_and_the_others_go_on(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): VerificationError("line 2 writes the file 'x'"), (2,): measurement(1.2)})
    module.try_best(None, run, 60.0)
    said = capsys.readouterr()
    assert "finding 1 not measured: line 2 writes the file 'x'" in said.out + said.err
    assert best_measured(run) == (2,)


def test_minor_findings_and_those_without_a_change_are_not_tried(measured, capsys) -> None:
    run = run_of(finding("small_batch", None), finding("unfused_optimizer", FUSED, Severity.LOW))
    module.try_best(None, run, 60.0)
    assert not run.measured
    said = capsys.readouterr()
    assert "--try: no finding above low severity has a change to measure" in said.out + said.err


def test_too_short_a_time_measures_nothing(measured, capsys) -> None:
    run = run_of(finding("unfused_optimizer", FUSED))
    module.try_best(None, run, 2.0)
    assert not run.measured
    said = capsys.readouterr()
    assert "the time given to --try is used up" in said.out + said.err and not measured["budgets"]


def test_a_ratio_of_steps_does_not_beat_a_combination_that_was_timed_as_a_cell(measured) -> None:
    run = run_of(finding("unfused_optimizer", FUSED), finding("workers_restarted", WORKERS))
    of_cell = measurement(1.1, whole_cell=True), measurement(1.6, whole_cell=True)
    measured.update({(1,): measurement(1.8), (2,): of_cell[0], (1, 2): of_cell[1]})
    module.try_best(None, run, 60.0)
    assert best_measured(run) == (1, 2)


def test_a_slower_combination_of_the_same_kind_is_not_best(measured) -> None:
    run = run_of(finding("unfused_optimizer", FUSED), finding("input_stall", WORKERS))
    measured.update({(1,): measurement(1.8), (2,): measurement(1.1), (1, 2): measurement(1.6)})
    module.try_best(None, run, 60.0)
    assert best_measured(run) == (1,)


def test_those_beyond_three_are_named(measured, capsys) -> None:
    lines = "".join(f"x{number} = 1\n" for number in range(5))
    changes = [lines.replace(f"x{number} = 1", f"x{number} = 2") for number in range(5)]
    found = [Finding("input_stall", Severity.HIGH, "", "", {}, "", diff=unified_diff(lines, each)) for each in changes]
    run = run_of(*found)
    run.trace.context.cell = Cell(source=lines)
    measured.update({(number,): measurement(1.0, Outcome.NO_EFFECT) for number in (1, 2, 3)})
    module.try_best(None, run, 60.0)
    assert [each.number for each in run.measured] == [1, 2, 3]
    assert "--try: 3 changes at most; %gputry measures findings 4, 5" in capsys.readouterr().err


def test_progress_is_shown_and_blank_at_the_end(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS))
    measured[(1,)] = measurement(1.5)
    module.try_best(None, run, 60.0)
    shown = "finding 1: 1 pair"
    assert f"\r{shown}\r{' ' * len(shown)}\r" in capsys.readouterr().out


def test_an_interrupt_keeps_what_was_measured(measured, capsys) -> None:
    run = run_of(finding("input_stall", WORKERS), finding("unfused_optimizer", FUSED))
    measured.update({(1,): measurement(1.5), (2,): KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        module.try_best(None, run, 60.0)
    assert [each.number for each in run.measured] == [1]
    assert "measured best: finding 1; %gpufix" in capsys.readouterr().out
