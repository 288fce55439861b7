"""A saving of the steps is told as one of the cell: by what it saves of a step, for each step that the cell took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.of_the_cell import of_whole_cell, severity_in_cell
from gpuprof.rules.saving.shown_saving import expected_shares, shown_saving
from tests.analyses.accounts.cells import line
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
SPAN_MS = 1_000  # set-up, and ten recorded steps of 10 ms
SET_UP_MS = SPAN_MS - 100


def cell(*, steps: int = 110, plain: bool = True, sampled: bool = True, device: bool = False) -> Trace:
    """900 ms of set-up and ten steps are recorded; the other steps of 10 ms each run after that."""
    builder = TraceBuilder().operator("aten::mm", 0, SPAN_MS * 1_000)
    for number in range(steps):
        at = SET_UP_MS + 10 * number
        builder.iteration(1_000 * at, 10_000, plain=plain and number >= 10)
        if number < 10:
            builder.step(1_000 * at, 10_000)
    if sampled:
        builder.stack(0, 1_000 * (SET_UP_MS + 10 * steps), line(3))
    if device:
        builder.kernel("gemm", 500, 50, launch_at_us=100)
    end_ns = (SET_UP_MS + 10 * steps) * MS
    window = Window(cell_end_ns=end_ns, end_ns=SPAN_MS * MS, steps_recorded=10, ended_by="steps")
    return builder.context(window=window).build()


def saving(saved_ms: float = 40, *, at_ms: float = SET_UP_MS, **facts: object) -> Saving:
    """40 of the 100 ms of the recorded steps, 4 % of the span."""
    within = Intervals(np.array([int(at_ms * MS)]), np.array([int((at_ms + 50) * MS)]))
    ns, known = saved_ms * MS, {"calibrated": True, "ceiling_share": 0.06, "within": within}
    return replace(Saving(0.5 * ns, ns, 1.5 * ns, ns / (SPAN_MS * MS), "C", "basis"), **{**known, **facts})  # type: ignore[arg-type]


def finding(found: Saving, severity: Severity = Severity.HIGH) -> Finding:
    return Finding("x", severity, "", "", {}, "", saving=found)


def told(trace: Trace, found: Saving) -> Saving:
    return of_whole_cell(Results(trace), finding(found), found)


def test_what_it_saves_of_each_step_of_the_cell() -> None:
    found = told(cell(), saving())
    # 4 ms of each of 110 steps, in a cell of 2 s
    assert found.of_cell and found.whole == "the cell"
    assert found.share == pytest.approx(0.4 * 1.1 / 2)
    assert (found.low_ns, found.central_ns, found.high_ns) == pytest.approx((220 * MS, 440 * MS, 660 * MS))
    assert found.per_step * found.share == pytest.approx(0.4)
    # the cause takes 60 of the 100 ms
    assert found.ceiling_share == pytest.approx(0.6 * 1.1 / 2)
    assert found.most_share <= found.ceiling_share


def test_where_every_step_was_recorded_it_is_less_of_a_longer_cell() -> None:
    # GIVEN ten steps, all of them recorded, in a cell that ends a second after the recording
    builder = TraceBuilder().operator("aten::mm", 0, SPAN_MS * 1_000).stack(0, 2_000 * SPAN_MS, line(3))
    for at in range(SET_UP_MS, SPAN_MS, 10):
        builder.iteration(1_000 * at, 10_000).step(1_000 * at, 10_000)
    window = Window(cell_end_ns=2 * SPAN_MS * MS, end_ns=SPAN_MS * MS, steps_recorded=10, ended_by="pause")
    found = told(builder.context(window=window).build(), saving())
    assert found.of_cell and found.share == pytest.approx(0.02) and found.per_step == pytest.approx(2)
    assert found.central_ns == 40 * MS
    # of a cause that takes 50 of the 1000 ms that were recorded
    assert found.ceiling_share == pytest.approx(0.025)


def test_it_never_exceeds_the_steps() -> None:
    found = told(cell(), saving(200))
    assert found.share == pytest.approx(1.1 / 2)


@pytest.mark.parametrize(
    ("trace", "found"),
    [
        (cell(plain=False), saving()),
        (cell(sampled=False), saving()),
        (cell(device=True), saving()),
        (cell(), saving(calibrated=False)),
        (cell(), saving(of_cell=True)),
        (cell(), saving(at_ms=100)),
        (cell(), saving(0)),
    ],
    ids=["no plain steps", "not sampled", "a device", "not calibrated", "of the cell already", "set-up", "nothing"],
)
def test_what_stays_as_it_is(trace: Trace, found: Saving) -> None:
    assert told(trace, found) is found


def test_its_range_is_that_of_the_steps() -> None:
    found = told(cell(), saving())
    low, high = expected_shares(found, "some_rule")
    as_steps = expected_shares(replace(found, share=0.4, per_step=0.0, ceiling_share=0.6), "some_rule")
    assert (low * found.per_step, high * found.per_step) == pytest.approx(as_steps)
    shown = shown_saving(finding(found), on_device=False)
    assert shown is not None and shown.share == found.share


@pytest.mark.parametrize(
    ("saved_ms", "expected"),
    [(2, Severity.LOW), (9, Severity.LOW), (9.1, Severity.MEDIUM), (10, Severity.MEDIUM), (30, Severity.HIGH)],
)
def test_it_matters_by_its_share_of_the_cell(saved_ms: float, expected: Severity) -> None:
    results = Results(cell())
    found = of_whole_cell(results, finding(saving(saved_ms)), saving(saved_ms, ceiling_share=1.0))
    assert severity_in_cell(results, finding(found), found) == expected
    assert severity_in_cell(results, finding(found, Severity.LOW), found) == Severity.LOW
