"""Growth is steady: neither chance, nor a change from one level to another, nor a few long iterations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.loops.trend import by_number, numbered, trend

PLACE = np.arange(60, dtype=np.float64)


def noise(share: float, seed: int = 0) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, share, len(PLACE)))


def test_figures_of_a_straight_line():
    found = trend(10 + PLACE)
    assert found is not None and found.grows
    assert (found.early, found.late, found.first, found.last) == (19, 66, 10, 57)
    assert (found.rank, found.slope, found.least_slope) == (1, 1, 1)
    assert found.ratio == pytest.approx(66 / 19)
    assert found.by_line == pytest.approx(1) and found.by_step == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_growth_is_seen_through_noise(seed):
    found = trend((10 + PLACE) * noise(0.2, seed))
    assert found is not None and found.grows


@pytest.mark.parametrize(
    "values",
    [
        np.ones(60),
        100 - PLACE,
        100 * noise(0.3),
        np.where(PLACE < 6, 50, 10) * noise(0.05),  # warm-up
        np.where(PLACE < 30, 10, 20) * noise(0.05),  # clocks, or another phase
        np.where(PLACE < 12, 10, 20) * noise(0.05),
        np.minimum(10 + PLACE, 25) * noise(0.05),  # full after a quarter
        10 + 40.0 * (PLACE % 10 == 9),  # the garbage collector
        5 + PLACE % 20,  # begins anew
    ],
)
def test_no_growth(values):
    found = trend(values)
    assert found is not None and not found.grows


def test_few_values_show_nothing():
    assert trend(np.arange(11.0)) is None
    assert trend(np.arange(12.0)) is not None


@given(st.floats(1e-3, 1e6), st.integers(0, 1000))
def test_the_unit_changes_nothing(factor, seed):
    values = (10 + PLACE) * noise(0.3, seed)
    one, other = trend(values), trend(values * factor)
    assert one is not None and other is not None
    assert (one.grows, one.rank) == (other.grows, other.rank)
    assert other.ratio == pytest.approx(one.ratio)


def test_many_values_are_put_together():
    found = trend(np.arange(5000.0) + 100)
    assert found is not None and found.grows and found.slope == pytest.approx(1)


def test_series_that_begin_anew_are_laid_over_one_another():
    values = np.tile(5 + np.arange(20.0), 4)
    number = numbered(values)
    assert number.tolist() == 4 * [*range(20)]
    assert by_number(values, number).tolist() == (5 + np.arange(20.0)).tolist()
    steady = numbered(10 + PLACE)
    assert steady.tolist() == [*range(60)]


def test_single_short_iterations_begin_nothing():
    values = 10 + PLACE
    values[[20, 40]] = 1
    assert numbered(values).tolist() == [*range(60)]
