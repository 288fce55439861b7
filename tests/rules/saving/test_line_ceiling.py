"""A saving takes no more than its lines do in iterations without the recording, as sampled stacks show."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.plain_lines import PlainLines
from gpuprof.model.context import Loader, Window
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.saving.without_profiling import without_recording
from tests.analyses.accounts.cells import line
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
STEPS, PLAIN = 10, 200
# of 20 ms recorded steps line 5 has 12, of plain ones of 10 ms it has 1
LOOP = Intervals(*(np.array([20 * MS * step + at * MS for step in range(STEPS)], np.int64) for at in (0, 12)))


def run(*, of_line_5_ms: int = 1, plain: int = PLAIN, wait: bool = False) -> Results:
    builder = TraceBuilder()
    for step in range(STEPS):
        at = 20_000 * step
        builder.step(at, 20_000).line(5, at).line(6, at + 12_000)
        builder.operator("aten::mul", at, 12_000).operator("aten::mm", at + 12_000, 8_000)
    start = 20_000 * STEPS
    for number in range(plain):
        at = start + 10_000 * number
        builder.iteration(at, 10_000, optimizer_us=0, plain=True)
        builder.stack(at, 1000 * of_line_5_ms, line(5)).stack(
            at + 1000 * of_line_5_ms, 10_000 - 1000 * of_line_5_ms, line(6)
        )
    window = Window(
        cell_end_ns=start * 1000 + 10 * MS * plain, end_ns=start * 1000, steps_recorded=STEPS, ended_by="steps"
    )
    return Results(builder.context(window=window, loaders=(Loader(workers=0),)).build())


def saving() -> Saving:
    return Saving(0.0, 60.0 * MS, 120.0 * MS, 0.3, "C", "estimate", within=LOOP)


def test_the_lines_of_a_saving_bound_it() -> None:
    results = run()
    most = results.get(PlainLines).most_share(results, LOOP)
    assert most is not None and 0.1 < most < 0.2
    found = without_recording(results, saving(), ())
    assert found.calibrated
    assert found.share <= found.ceiling_share == pytest.approx(most, rel=0.01)
    assert found.high_ns >= found.central_ns


def test_lines_that_take_as_much_without_the_recording_change_nothing() -> None:
    unbound, bound = (without_recording(run(of_line_5_ms=ms), saving(), ()) for ms in (9, 8))
    assert unbound.share == pytest.approx(bound.share)
    assert unbound.share < bound.ceiling_share


@pytest.mark.parametrize("plain", [0, 90])
def test_under_a_second_of_samples_says_nothing(plain: int) -> None:
    results = run(plain=plain)
    assert results.get(PlainLines).most_share(results, LOOP) is None


def test_time_in_no_known_line_says_nothing() -> None:
    results = run()
    other = Intervals(np.array([-50 * MS], np.int64), np.array([-30 * MS], np.int64))
    assert results.get(PlainLines).most_share(results, other) is None
    assert results.get(PlainLines).line.tolist() == [5, 6]
