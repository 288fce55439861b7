"""What pairs of block times say: when to stop, which way it went, and the figures to show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gpuprof.verification.timing.confidence import (
    FEWEST_PAIRS,
    NOTHING_KNOWN,
    Array,
    Interval,
    bca,
    hodges_lehmann,
    sequence,
)


class Outcome(StrEnum):
    """Which way a comparison went."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_EFFECT = "no effect"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Estimate:
    """`ratio`: time before ÷ time after, with a 95 % interval; None where nothing was paired.

    `sequence` is what the outcome rests on. The interval shown never claims more than it: where the outcome is no gain
    and no loss, it is the sequence's.
    """

    outcome: Outcome
    ratio: float | None
    low: float | None
    high: float | None
    sequence: tuple[float, float] | None


def decided(differences: Array) -> Outcome | None:
    """The outcome that the pairs so far allow, from the first eight on; None: go on.

    `differences` are log(time before) − log(time after), in the order measured.
    """
    return _outcome(sequence(differences))


def estimate(differences: Array) -> Estimate:
    """The final figures; inconclusive where the pairs decided nothing."""
    if not len(differences):
        return Estimate(Outcome.INCONCLUSIVE, None, None, None, None)
    uniform = sequence(differences)
    outcome = _outcome(uniform) or Outcome.INCONCLUSIVE
    known = uniform != NOTHING_KNOWN
    centre, shown = hodges_lehmann(differences), uniform
    if outcome in (Outcome.FASTER, Outcome.SLOWER):
        found = bca(differences)
        shown = found if found.low * found.high > 0 and _outcome(found) is outcome else uniform
    low, high = shown.factors() if known else (None, None)
    return Estimate(outcome, math.exp(centre), low, high, uniform.factors() if known else None)


def _outcome(interval: Interval) -> Outcome | None:
    if interval.negligible:
        return Outcome.NO_EFFECT
    if interval.excludes_zero:
        return Outcome.FASTER if interval.low > 0 else Outcome.SLOWER
    return None


def as_differences(before_ns: list[float], after_ns: list[float]) -> Array:
    """Log ratios of paired block times."""
    difference: Array = np.log(np.asarray(before_ns, float)) - np.log(np.asarray(after_ns, float))
    return difference


__all__ = ["FEWEST_PAIRS", "Estimate", "Outcome", "as_differences", "decided", "estimate"]
