"""Step durations, warm-up left out."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from tests.support.trace_builder import TraceBuilder


def steps(*durations_us: int) -> StepTime:
    builder, at = TraceBuilder(), 0
    for duration in durations_us:
        builder.step(at, duration)
        at += duration
    return Results(builder.build()).get(StepTime)


def test_warm_up_at_the_beginning_is_not_steady():
    found = steps(900, 210, 100, 100, 100, 300)
    assert found.steady.tolist() == [False, True, True, True, True, True]
    assert found.median_ns == 100_000
    assert found.count == 6
    assert found.steps_from == "ProfilerStep"


def test_slow_steps_later_on_stay():
    assert steps(100, 100, 900, 100).steady.all()


def test_median_and_p95_of_the_steady_steps():
    found = steps(1000, *[100] * 19, 200)
    assert (found.median_ns, found.p95_ns) == (100_000, 105_000)
    assert found.window.total_ns == 3_100_000


def test_no_step_is_unknown_not_zero():
    found = steps()
    assert (found.count, found.median_ns, found.p95_ns, found.steps_from) == (0, None, None, None)
