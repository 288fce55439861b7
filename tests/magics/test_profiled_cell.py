"""`--try` at the end of a profiled cell: when nothing is measured, and what an interrupt leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.magics import try_best
from gpuprof.magics.options import parse
from gpuprof.magics.profiled_cell import ProfiledCell


class Showing:
    """Counts how often the report is shown again."""

    def __init__(self) -> None:
        self.times = 0

    def again(self) -> None:
        self.times += 1


def ended(line: str, error: BaseException | None = None) -> Any:
    """A cell that has ended so."""
    session = SimpleNamespace(stop=lambda error, pack_later: None, interrupted=False)
    cell: Any = ProfiledCell(None, parse(line), None, session, None)  # type: ignore[arg-type]
    assert cell.stop(error)
    return cell


def run_of(*, cannot_judge: bool = False) -> Any:
    gate = SimpleNamespace(cannot_judge=cannot_judge)
    return SimpleNamespace(measured=[], report_data=SimpleNamespace(gate=gate))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The budgets that changes were measured with; each time one is."""
    budgets: list[float] = []

    def measure(shell: Any, run: Any, budget_s: float) -> None:
        budgets.append(budget_s)
        run.measured.append("one")
        if budget_s == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(try_best, "try_best", measure)
    return budgets


def test_changes_are_measured_where_that_was_asked_for(asked: list[float]) -> None:
    showing = Showing()
    ended("")._try(run_of(), showing)
    assert asked == [] and showing.times == 0
    ended("--try")._try(run_of(), showing)
    assert asked == [60.0] and showing.times == 1


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_nothing_is_measured_of_a_cell_that_did_not_end(
    asked: list[float], capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    ended("--try", error)._try(run_of(), Showing())
    assert asked == [] and "--try: nothing measured, since the cell did not run to its end" in capsys.readouterr().err


def test_nor_of_one_that_cannot_be_judged(asked: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    ended("--try")._try(run_of(cannot_judge=True), Showing())
    assert asked == [] and "this recording cannot be judged" in capsys.readouterr().err


def test_an_interrupt_shows_what_was_measured_until_then(
    asked: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    showing = Showing()
    ended("--try --try-seconds 7")._try(run_of(), showing)
    assert asked == [7.0] and showing.times == 1
    assert "--try was interrupted; your variables are as the cell left them" in capsys.readouterr().err
