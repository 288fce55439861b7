"""What runs outside the steps has the names of its phases."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.outside_steps import OutsideSteps
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.report import Report
from gpuprof.views import wording
from gpuprof.views.theme import BUDGET
from tests.analyses.accounts.cells import cell, line
from tests.support.trace_builder import TraceBuilder

IMPORT = ("<frozen importlib._bootstrap>", "_find_and_load", 3)


def recorded(samples: int) -> TraceBuilder:
    """40 ms before two steps of 10 ms: imports for three quarters of them, in so many samples, and the cell's code."""
    builder = TraceBuilder().operator("aten::empty", 0, 10)
    for number in range(samples):
        builder.stack(30_000 * number / samples, 30_000 / samples, line(2), IMPORT)
    builder.stack(30_000, 10_000, line(3)).stack(40_000, 20_000, line(5))
    for at in (40_000, 50_000):
        builder.step(at, 10_000).operator("aten::mm", at, 10_000)
    return builder


def test_phases_of_the_time_before_the_steps() -> None:
    (first, share), (second, rest) = Results(cell(recorded(5))).get(OutsideSteps).phases
    assert (first, second) == (Phase.SET_UP, Phase.OTHER)
    assert (share, rest) == (pytest.approx(0.75), pytest.approx(0.25))


def test_too_few_samples_name_nothing() -> None:
    assert Results(cell(recorded(3))).get(OutsideSteps).phases == ()


def test_without_stacks_or_steps_nothing_is_known() -> None:
    assert Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(OutsideSteps).phases == ()


def test_the_budget_says_it() -> None:
    rows = wording.budget_rows(Report.of(cell(recorded(5))))
    assert [row.detail for row in rows if row.kind is BUDGET["outside_steps"]] == ["set-up 50 %"]
