"""What the buttons of a card put into the cell below."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof import profiling
from gpuprof.code_edits.syntax.diff import unified_diff
from gpuprof.magics.card_actions import card_actions
from gpuprof.model.context import Cell

BEFORE, AFTER = "%%gpuprofile\nx = 1\n", "%%gpuprofile\nx = 2\n"


@pytest.fixture
def run() -> Any:
    """A run of BEFORE with one finding whose change makes it AFTER, and one without a change."""
    findings = (
        SimpleNamespace(diff=unified_diff(BEFORE, AFTER), change="Set x."),
        SimpleNamespace(diff=None, change="Buy a GPU."),
    )
    cell = Cell(source=f"# {BEFORE}", execution_count=1)
    return SimpleNamespace(findings=findings, trace=SimpleNamespace(context=SimpleNamespace(cell=cell)))


def test_a_finding_without_a_change_gives_its_advice(run: Any) -> None:
    made = card_actions(run)["fix"](2)
    assert made.code == "" and "Buy a GPU." in made.said


def test_insert_fix_is_the_changed_cell_to_be_compared(run: Any) -> None:
    made = card_actions(run)["fix"](1)
    assert made.code == "%%gpuprofile --compare last\nx = 2" and not made.run and "below" in made.said


def test_try_it_runs_gputry_of_the_last_run_only(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "last", lambda: run)
    made = card_actions(run)["try"](1)
    assert (made.code, made.run) == ("%gputry 1", True)
    monkeypatch.setattr(profiling, "last", lambda: None)
    later = card_actions(run)["try"](1)
    assert later.code == "" and "later run" in later.said
