"""A finding is as severe as what it saves of the cell."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.of_the_cell import severity_in_cell
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def judged(share: float, *, cell_ms: float, severity: Severity = Severity.HIGH, at_ms: float = 10.0) -> Severity:
    """Of a run that records two steps in 100 ms of a cell, and saves that share of them."""
    builder = TraceBuilder().operator("aten::mm", 0, 100_000).step(0, 40_000).step(40_000, 40_000)
    window = Window(cell_end_ns=int(cell_ms * MS), end_ns=100 * MS)
    results = Results(builder.context(window=window).build())
    where = Intervals(np.array([int(at_ms * MS)]), np.array([int(at_ms * MS) + 5 * MS]))
    saved = share * results.span_ns
    saving = Saving(saved, saved, saved, share, "B", "", within=where)
    return severity_in_cell(results, Finding("x", severity, "", "", {}, "", saving=saving), saving)


@pytest.mark.parametrize(
    ("cell_ms", "expected"),
    [(100, Severity.HIGH), (390, Severity.HIGH), (410, Severity.MEDIUM), (1300, Severity.MEDIUM), (1400, Severity.LOW)],
)
def test_the_longer_the_rest_of_the_cell_the_less_it_matters(cell_ms: float, expected: Severity) -> None:
    assert judged(0.4, cell_ms=cell_ms) == expected


def test_it_never_rises() -> None:
    assert judged(0.9, cell_ms=100, severity=Severity.LOW) == Severity.LOW
    assert judged(0.9, cell_ms=500, severity=Severity.LOW) == Severity.LOW


def test_a_finding_outside_the_steps_counts_for_the_recorded_part() -> None:
    assert judged(0.4, cell_ms=1400, at_ms=90) == Severity.LOW
