"""Savings of runs without a device: shares of the run as it is without the recording."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.saving.scope import Scope
from gpuprof.rules.saving.without_profiling import RecordingCost, without_recording
from tests.support.trace_builder import TraceBuilder

BEFORE_US, WAIT_US, STEP_US = 300, 400, 1000


def run(*, operators: int = 100, window: Window | None = None, device: bool = False) -> Trace:
    """Ten steps of 1 ms: operators one after the other, and a wait of 0.4 ms between the first half and the second."""
    builder, each = TraceBuilder().context(window=window), (STEP_US - WAIT_US) / operators
    for at in range(0, 10 * STEP_US, STEP_US):
        builder.step(at, STEP_US).data_wait(at + BEFORE_US, WAIT_US)
        for place in range(operators):
            late = WAIT_US if place >= operators // 2 else 0
            builder.operator("aten::add", at + late + place * each, each)
    return (builder.kernel("add", 500, 10) if device else builder).build()


def of_the_waits(trace: Trace) -> Saving:
    saving = Scope.of(Results(trace)).saving(0, 4e6, 4e6, "upper bound")
    waits = tuple((at * 1_000_000 + 300_000, at * 1_000_000 + 700_000) for at in range(10))
    return without_recording(Results(trace), saving, waits)


def of_the_operators(trace: Trace) -> Saving:
    saving = Scope.of(Results(trace)).saving(0, 6e6, 6e6, "upper bound")
    halves = [at * 1_000_000 + half for at in range(10) for half in (0, 700_000)]
    work = tuple((begin, begin + 300_000) for begin in halves)
    return without_recording(Results(trace), saving, work)


def test_waits_are_a_larger_part_of_the_run_without_recording() -> None:
    """100 operators a step of 1,000 µs, each 1.2 µs longer for being recorded (0 to 2.4)."""
    saving = of_the_waits(run())
    assert saving.share == pytest.approx(400 / 880)
    assert saving.most_share == pytest.approx(400 / 760)
    assert (saving.low_ns, saving.calibrated) == (0, True)
    assert "taken to cost" in saving.basis


def test_operators_are_a_smaller_part() -> None:
    saving = of_the_operators(run())
    assert saving.share == pytest.approx(480 / 880)
    assert saving.most_share == pytest.approx(0.6)


def test_a_saving_that_says_what_it_is_part_of_is_judged_by_that() -> None:
    """Not by the ranges that are shown, which are the longest and hold more or fewer operators than the rest."""
    trace = run()
    waits = Intervals(*(np.array([at * 1_000_000 + ns for at in range(10)], np.int64) for ns in (300_000, 700_000)))
    saving = Scope.of(Results(trace)).saving(0, 4e6, 4e6, "upper bound", part_of=waits)
    assert without_recording(Results(trace), saving, ((0, 300_000),)).share == pytest.approx(400 / 880)


def test_the_steps_after_the_window_tell_what_recording_costs() -> None:
    saving = of_the_waits(run(window=Window(recorded_step_ns=1e6, plain_step_ns=8e5)))
    assert saving.share == pytest.approx(0.5)
    assert 0.5 < saving.most_share == pytest.approx(400 / 750)
    assert "taken" not in saving.basis


def test_what_records_may_cost_lies_midway_between_going_with_number_and_with_time() -> None:
    """Of 100 operators that take 600 µs a step, the first half of a step holds 50, but only a quarter of the time."""
    builder = TraceBuilder().context(window=Window(recorded_step_ns=1e6, plain_step_ns=8e5))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for place in range(50):
            builder.operator("aten::add", at + 10 * place, 3).operator("aten::mm", at + 500 + 10 * place, 9)
    trace = builder.operator("aten::add", 9_999, 1).build()
    halves = tuple((at * 1_000_000, at * 1_000_000 + 500_000) for at in range(10))
    saving = Scope.of(Results(trace)).saving(0, 5e6, 5e6, "upper bound")
    by_number, by_time = (500 - 100) / 800, (500 - 50) / 800
    found = without_recording(Results(trace), saving, halves)
    assert found.share == pytest.approx((by_number + by_time) / 2, rel=0.001)
    assert found.most_share > by_time > found.share


def test_what_is_more_than_records_can_cost_goes_with_the_operators_time() -> None:
    """Six operators of 100 µs a step, of which recording them is 50 µs each."""
    trace = run(operators=6, window=Window(recorded_step_ns=1e6, plain_step_ns=7e5))
    cost = RecordingCost.of(Results(trace))
    assert cost.measured and not cost.by_number
    assert of_the_waits(trace).share == pytest.approx(4 / 7)
    assert of_the_operators(trace).share == pytest.approx(3 / 7)


def test_what_the_steps_cost_more_is_not_the_cost_of_what_comes_before_or_after_them() -> None:
    """Ten steps with 600 µs of operators, of which recording is a half; then 5 ms that no step without it tells of."""
    window = Window(recorded_step_ns=1e6, plain_step_ns=7e5)
    builder = TraceBuilder().context(window=window)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for place in range(6):
            builder.operator("aten::mm", at + 100 * place + (400 if place >= 3 else 0), 100)
    trace = builder.operator("aten::normal_", 10_000, 5000).build()
    assert of_the_operators(trace).share == pytest.approx(3 / 12)


@pytest.mark.parametrize("plain_ns", [1.2e6, 2e5], ids=["faster with recording", "less than the waits"])
def test_steps_that_differ_for_another_reason_tell_nothing(plain_ns: float) -> None:
    trace = run(window=Window(recorded_step_ns=1e6, plain_step_ns=plain_ns))
    assert not RecordingCost.of(Results(trace)).measured


def test_no_run_is_taken_to_be_more_than_half_again_as_long() -> None:
    saving = of_the_waits(run(operators=600))
    assert saving.share == pytest.approx(0.6) == saving.most_share


@pytest.mark.parametrize(
    "trace", [run(device=True), TraceBuilder().step(0, 100).build()], ids=["device", "no operator"]
)
def test_left_as_it_is(trace: Trace) -> None:
    assert not of_the_waits(trace).calibrated
