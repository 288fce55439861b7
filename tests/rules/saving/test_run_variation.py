"""How far what a change leaves may differ."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.saving.run_variation import spread_of_the_rest
from tests.support.trace_builder import TraceBuilder


def run(lengths_us: list[int], *, device: bool = False) -> Trace:
    builder, at = TraceBuilder(), 0
    for length in lengths_us:
        builder.step(at, length).operator("aten::add", at, length / 2)
        at += length
    return (builder.kernel("add", 10, 10) if device else builder).build()


def spread(lengths_us: list[int], *, device: bool = False) -> float:
    return spread_of_the_rest(Results(run(lengths_us, device=device)))


def test_steady_steps_leave_what_differs_from_run_to_run() -> None:
    assert spread([1000] * 8) == 0.30
    assert spread([1000] * 8, device=True) == 0.05


def test_steps_that_vary_may_vary_otherwise_next_time() -> None:
    """Half of them 1.0 ms, half of them 1.5 ms: half of the quartiles' distance, of their middle."""
    assert spread([1000, 1500] * 6, device=True) == pytest.approx(250 / 1250)


def test_a_handful_of_steps_tells_nothing_of_their_variation() -> None:
    assert spread([1000, 1900, 1000]) == 0.30


def test_the_range_of_the_share_allows_for_it_and_the_times_do_not() -> None:
    saving = Saving(40, 50, 50, 0.5, "C", "", spread=0.1)
    assert saving.least_share == pytest.approx(0.4 / (0.4 + 0.6 * 1.1))
    assert saving.most_share == pytest.approx(0.5 / (0.5 + 0.5 * 0.9))
    assert Saving(0, 50, 100, 0.5, "C", "", spread=0.1).least_share == 0
    assert Saving(0, 50, 100, 0.5, "C", "", spread=0.1).most_share == 1
