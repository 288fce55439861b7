"""What `%gputry` says was predicted: of the steps where these are timed, else of the cell."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.magics.try_change import predicted
from gpuprof.rules.base.finding import Finding, Saving, Severity
from tests.support.trace_builder import TraceBuilder

# a fifth of the cell, in steps that take half of it
OF_CELL = Saving(20, 20, 20, 0.2, "C", "basis", calibrated=True, of_cell=True, ceiling_share=0.21)


def run_of(rule: str, saving: Saving | None) -> Any:
    results = Results(TraceBuilder().operator("aten::mm", 0, 10).build())
    found = Finding(rule, Severity.HIGH, "", "", {}, "", saving=saving)
    return SimpleNamespace(findings=(found,), report_data=SimpleNamespace(results=results))


def central(rule: str, saving: Saving | None) -> float | None:
    told = predicted(run_of(rule, saving), 1)
    return told[1] if told else None


def test_a_saving_of_the_cell_is_told_of_the_steps_that_are_timed() -> None:
    assert central("unfused_optimizer", replace(OF_CELL, per_step=2.0)) == pytest.approx(1 / 0.6)
    assert central("unfused_optimizer", OF_CELL) == pytest.approx(1 / 0.8)


def test_where_the_whole_cell_is_timed_it_is_of_the_cell() -> None:
    assert central("workers_restarted", replace(OF_CELL, per_step=2.0)) == pytest.approx(1 / 0.8)


def test_nothing_is_predicted_without_a_saving() -> None:
    assert central("unfused_optimizer", None) is None
