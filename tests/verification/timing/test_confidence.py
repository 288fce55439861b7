"""The confidence sequence claims what is there, and next to never what is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpuprof.verification.timing.confidence import (
    FEWEST_PAIRS,
    bca,
    early_sequence,
    hodges_lehmann,
    inflation,
    sequence,
)
from gpuprof.verification.timing.outcome import Outcome, decided, estimate

PAIRS = 60
NOISE = 0.03 / math.sqrt(2)  # of t4, whose variance is 2


def comparison(rng: np.random.Generator, *, correlation: float = 0.0, effect: float = 0.0) -> np.ndarray:
    """Log ratios of 60 pairs with heavy tails, each alike the one before."""
    noise = rng.standard_t(4, PAIRS) * NOISE
    series = np.empty(PAIRS)
    state = rng.standard_t(4) * NOISE / math.sqrt(1 - correlation**2)
    for at in range(PAIRS):
        state = correlation * state + noise[at]
        series[at] = state
    return series + effect


def stopped(differences: np.ndarray) -> Outcome:
    """What somebody who looks after every pair is told."""
    for count in range(1, PAIRS + 1):
        if (outcome := decided(differences[:count])) is not None:
            return outcome
    return Outcome.INCONCLUSIVE


@pytest.mark.parametrize("correlation", [0.0, 0.3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_200_comparisons_of_the_same_at_most_5_percent_claim_an_effect(correlation: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcomes = [stopped(comparison(rng, correlation=correlation)) for _ in range(200)]
    assert sum(outcome in (Outcome.FASTER, Outcome.SLOWER) for outcome in outcomes) <= 10


@pytest.mark.parametrize(("effect", "outcome"), [(0.05, Outcome.FASTER), (-0.05, Outcome.SLOWER)])
def test_an_effect_of_5_percent_is_found_with_its_sign(effect: float, outcome: Outcome) -> None:
    rng = np.random.default_rng(1)
    assert all(stopped(comparison(rng, effect=effect)) is outcome for _ in range(50))


def test_quiet_pairs_without_an_effect_are_called_that() -> None:
    rng = np.random.default_rng(1)
    assert all(decided(comparison(rng) / 10) is Outcome.NO_EFFECT for _ in range(20))


def test_under_eight_pairs_nothing_is_known() -> None:
    steady = np.full(FEWEST_PAIRS - 1, 0.5)
    assert decided(steady) is None and estimate(steady).low is None
    assert decided(np.full(FEWEST_PAIRS, 0.5)) is Outcome.FASTER


def test_the_interval_shown_claims_nothing_that_the_sequence_does_not() -> None:
    rng, seen = np.random.default_rng(5), set()
    for effect in (0.0, 0.004, 0.008, 0.02):
        for _ in range(25):
            found = estimate(comparison(rng, effect=effect)[:20])
            seen.add(found.outcome)
            claims = found.low > 1 or found.high < 1
            assert claims == (found.outcome in (Outcome.FASTER, Outcome.SLOWER)) or found.outcome is Outcome.NO_EFFECT
            assert found.low <= found.ratio <= found.high
    assert {Outcome.FASTER, Outcome.INCONCLUSIVE} <= seen


def test_neighbours_that_are_alike_widen_the_sequence() -> None:
    rng = np.random.default_rng(3)
    drifting = np.cumsum(rng.normal(0, 0.01, PAIRS))
    shuffled = rng.permutation(drifting)
    assert inflation(drifting) > 2 * inflation(shuffled) >= 2
    assert sequence(drifting).high - sequence(drifting).low > sequence(shuffled).high - sequence(shuffled).low


@pytest.mark.parametrize("heavy", [False, True])
def test_a_few_pairs_of_the_same_hardly_ever_claim_an_effect(heavy: bool) -> None:
    rng, claims = np.random.default_rng(1), 0
    for _ in range(400):
        pairs = rng.standard_t(4, 7) if heavy else rng.normal(0, 1, 7)
        claims += any(early_sequence(pairs[:count]).excludes_zero for count in range(1, 8))
    assert claims <= 20


def test_four_pairs_find_an_effect_of_many_spreads_only() -> None:
    pairs = np.array([-1.0, 1.0, -1.0, 1.0])
    assert early_sequence(pairs + 5).low > 0 and early_sequence(pairs + 3).low < 0
    assert early_sequence(pairs[:3] + 50).low == -math.inf
    assert early_sequence(pairs + 5, 0.005).low < 0 < early_sequence(pairs + 10, 0.005).low


def test_a_stricter_level_is_wider() -> None:
    pairs = comparison(np.random.default_rng(1))
    assert sequence(pairs, 0.01).low < sequence(pairs).low < sequence(pairs).high < sequence(pairs, 0.01).high


def test_hodges_lehmann_by_hand() -> None:
    # the means of all pairs of 0, 1, 5: 0, 0.5, 2.5, 1, 3, 5
    assert hodges_lehmann(np.array([0.0, 1.0, 5.0])) == 1.75


def test_the_bootstrap_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(200):
        found = bca(rng.normal(0.02, 0.03, 20), resamples=1000)
        hits += found.low <= 0.02 <= found.high
    assert 0.88 <= hits / 200 <= 0.99
