"""The error of a sampled share is the spread that random sampling shows."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.model.context import SampledStacks

S = 1_000_000_000


def stacks(how: str, rate_hz: float) -> SampledStacks:
    return SampledStacks(how=how, start_ns=0, end_ns=S, rate_hz=rate_hz)


def test_it_is_the_spread_of_many_cells_sampled_at_random_times() -> None:
    # GIVEN 2,000 cells of 10 s that spend the first 30 % of each 50 ms in one line, sampled at 20 Hz, at random times
    random = np.random.default_rng(1)
    shares = []
    for _ in range(2_000):
        times = np.cumsum(random.exponential(0.05, 400))
        times = times[times < 10.0]
        lasted = np.diff(times, append=10.0)
        shares.append(lasted[times % 0.05 < 0.015].sum() / lasted.sum())
    assert np.mean(shares) == pytest.approx(0.3, abs=0.01)
    assert share_error(np.array(0.3), 10 * S, stacks("py-spy", 20)) == pytest.approx(np.std(shares), rel=0.1)


def test_a_thread_looks_at_regular_times() -> None:
    once, random = (share_error(np.array(0.5), 1_000 * S, stacks(how, 4)) for how in ("thread", "py-spy"))
    assert random / once == pytest.approx(np.sqrt(2), rel=0.01)


def test_all_samples_in_one_line_are_no_proof_that_nothing_else_ran() -> None:
    # GIVEN a line that held 72 % of a cell of two seconds, and 8 looks at regular times that all found it
    error = share_error(np.array([1.0, 0.0]), 2 * S, stacks("thread", 4))
    assert error == pytest.approx([0.1061, 0.1061], rel=0.01)
    assert share_error(np.array(1.0), 2_000 * S, stacks("thread", 4)) < 0.001


def test_less_than_one_sample_is_one() -> None:
    assert share_error(np.array(0.5), 1, stacks("thread", 4)) == pytest.approx(0.5)
