"""A saving of the wait for data, or of the optimizer, is of what that takes in iterations that were not recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader, Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.registry import judge
from gpuprof.rules.saving.plain_parts import PlainPart, PlainParts
from gpuprof.rules.saving.without_profiling import MEASURED, without_recording
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
STEPS, PLAIN = 10, 20


def run(*, plain: bool = True, last_wait_ms: float = 8) -> Trace:
    """Ten recorded steps of 20 ms: 8 wait for data, 4 compute, 8 are the optimizer; then, at 10 ms each, plain ones: 2
    wait, 3 compute, 5 are the optimizer. 12 ms of the recorded span lie outside the
    steps (it begins with the first operator)."""
    builder = TraceBuilder()
    for number in range(STEPS):
        at, wait = 20_000 * number, 1_000 * (last_wait_ms if number == STEPS - 1 else 8)
        builder.step(at, 12_000 + wait).data_wait(at, wait)
        builder.operator("aten::mm", at + wait, 4_000)
        builder.optimizer_step("Adam", at + wait + 4_000, 8_000).operator("aten::add", at + wait + 4_000, 8_000)
    builder.operator("aten::mm", 20_000 * (STEPS - 1) + 12_000 + 1_000 * last_wait_ms, 20_000)
    end_ns = 20 * MS * STEPS + 12 * MS + round(last_wait_ms * MS)
    starts = [end_ns + 10 * MS * number for number in range(PLAIN)]
    loader = Loader(
        workers=0,
        batches_read=STEPS + PLAIN,
        wait_ns=(*(8 * MS,) * (STEPS - 1), round(last_wait_ms * MS), *(2 * MS,) * PLAIN),
        wait_start_ns=(*(20 * MS * number for number in range(STEPS)), *starts),
    )
    window = Window(cell_end_ns=end_ns + 10 * MS * PLAIN, end_ns=end_ns, steps_recorded=STEPS, ended_by="steps")
    trace = builder.context(window=window, loaders=(loader,)).build()
    columns = {
        "start_ns": starts,
        "duration_ns": [10 * MS] * PLAIN,
        "optimizer_ns": [5 * MS] * PLAIN,
        "plain": [plain] * PLAIN,
    }
    return replace(trace, tables={**trace.tables, "iterations": Table(ITERATIONS, columns)})


def test_each_part_has_its_own_factor() -> None:
    parts = PlainParts.of(Results(run()))

    assert parts is not None
    assert parts.wait == pytest.approx(2 / 8)
    assert parts.optimizer == pytest.approx(5 / 8)
    assert parts.span_ns == pytest.approx((12 + 10 * STEPS) * MS)
    assert parts.error == 0.0


def test_without_plain_iterations_there_is_none() -> None:
    assert PlainParts.of(Results(run(plain=False))) is None
    assert PlainParts.of(Results(TraceBuilder().operator("aten::mm", 0, 10).build())) is None


def test_a_part_is_known_by_where_the_time_lies() -> None:
    results = Results(run())
    parts = PlainParts.of(results)
    assert parts is not None
    phases = results.get(Phases)
    assert parts.part_of(phases.input) == PlainPart(parts.wait, pytest.approx(20 / 112))
    assert parts.part_of(phases.optimizer) == PlainPart(parts.optimizer, pytest.approx(50 / 112))
    for whole_ms, expected in ((1.9, parts.wait), (2.1, None)):  # 8 ms of wait, and so much of what follows
        within = Intervals(np.array([0]), np.array([int((8 + whole_ms) * MS)]))
        found = parts.part_of(within)
        assert (found.factor if found else None) == expected
    assert parts.part_of(Intervals(np.array([8 * MS]), np.array([12 * MS]))) is None
    assert parts.part_of(Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))) is None


@pytest.mark.parametrize(("part", "recorded_ms", "plain_ms"), [("input", 80, 20), ("optimizer", 80, 50)])
def test_a_saving_never_exceeds_what_the_part_takes_without_the_recording(
    part: str, recorded_ms: float, plain_ms: float
) -> None:
    results = Results(run())
    whole = float(recorded_ms * MS)
    within = getattr(results.get(Phases), part)
    saving = Saving(whole / 2, whole, whole, whole / results.span_ns, "C", "all of it", within=within)

    plain = without_recording(results, saving, ())

    assert plain.central_ns == pytest.approx(plain_ms * MS)
    assert plain.share == pytest.approx(plain_ms / 112) == pytest.approx(plain.most_share)
    assert plain.least_share == pytest.approx(plain_ms / 224)
    varying = replace(plain, spread=0.3)
    assert varying.most_share == plain.ceiling_share == pytest.approx(plain_ms / 112)
    assert varying.least_share < plain.least_share
    assert plain.calibrated and plain.basis == f"all of it; {MEASURED}"


def test_one_recorded_wait_that_is_most_of_them_changes_nothing() -> None:
    """The plain iterations wait for a fifth of their time, whatever one of the recorded ones waited for."""
    usual, lone = (
        next(each for each in judge(Results(run(last_wait_ms=ms)), strict=True).findings if each.rule == "input_stall")
        for ms in (8, 900)
    )
    assert usual.title == lone.title == "The training loop waits for data 20 % of the steps’ time"
    assert usual.saving is not None and lone.saving is not None
    assert lone.saving.share == pytest.approx(usual.saving.share, abs=0.01) and lone.saving.share > 0.15
