"""A race: contenders are timed in turns, and one is out as soon as its turns show that it is behind. Pure figures."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from gpuprof.verification.timing.confidence import (
    FEWEST_PAIRS,
    LEVEL,
    Array,
    Interval,
    bca,
    early_sequence,
    hodges_lehmann,
    sequence,
)
from gpuprof.verification.timing.outcome import Estimate, Outcome, estimate

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Standing:
    """A contender against the unchanged cell: time unchanged ÷ its time (above 1: it is faster).

    `low` to `high` is the anytime-valid interval, at the level shared by all contenders; None under four turns.
    """

    turns: int
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


class Race(Generic[K]):
    """Times of contenders and, in each turn, of the unchanged cell twice.

    Every interval is at the level 5% ÷ contenders, so that all of them together are wrong in at most 5% of races.
    """

    def __init__(self, contenders: Sequence[K]):
        self.entered = tuple(contenders)
        self.running = list(contenders)
        self.order: list[int] = []
        self.level = LEVEL / max(len(contenders), 1)
        self._logs: dict[K, list[float]] = {each: [] for each in contenders}
        self._unchanged: list[tuple[float, float]] = []

    @property
    def turns(self) -> int:
        """Made so far."""
        return len(self._unchanged)

    def add(self, unchanged_ns: tuple[float, float], times_ns: Mapping[K, float]) -> None:
        """One turn: both times of the unchanged cell, and one of each contender that still runs.

        A contender without a time is out.
        """
        self._unchanged.append((math.log(unchanged_ns[0]), math.log(unchanged_ns[1])))
        self.running = [each for each in self.running if each in times_ns]
        for each in self.running:
            self._logs[each].append(math.log(times_ns[each]))

    def drop(self, contender: K) -> None:
        """It races no more."""
        self.running.remove(contender)

    def gains(self, contender: K) -> Array:
        """Log of time unchanged ÷ its time, of every turn that it was in."""
        own = np.array(self._logs[contender])
        gains: Array = np.array(self._unchanged).reshape(-1, 2).mean(axis=1)[: len(own)] - own
        return gains

    def leads(self, contender: K, other: K) -> Array:
        """Log of the other's time ÷ its time, of every turn that both were in."""
        turns = min(len(self._logs[contender]), len(self._logs[other]))
        leads: Array = np.array(self._logs[other][:turns]) - np.array(self._logs[contender][:turns])
        return leads

    def standing(self, contender: K) -> Standing:
        """As it is now."""
        gains = self.gains(contender)
        if not len(gains):
            return Standing(0)
        found = self.interval(gains)
        known = math.isfinite(found.low)
        low, high = found.factors() if known else (None, None)
        return Standing(len(gains), math.exp(float(np.median(gains))), low, high)

    def unchanged_again(self) -> Standing:
        """The unchanged cell against itself, by the estimate that a gain is shown with: what noise alone gives."""
        if not self._unchanged:
            return Standing(0)
        one, other = np.array(self._unchanged).T
        low, high = bca(one - other).factors() if self.turns >= FEWEST_PAIRS else (None, None)
        return Standing(self.turns, math.exp(hodges_lehmann(one - other)), low, high)

    def leader(self) -> K | None:
        """The fastest that still runs, by the median of its turns; None where the unchanged cell is."""
        if not self.turns:
            return None
        best = max(self.running, key=lambda each: float(np.median(self.gains(each))), default=None)
        return best if best is not None and float(np.median(self.gains(best))) > 0 else None

    def behind(self) -> dict[K, K | None]:
        """Those whose interval of the time, relative to the leader's, lies wholly above 1; and that leader.

        None stands for the unchanged cell. The leader itself is never among them.
        """
        first = self.leader()
        found: dict[K, K | None] = {}
        for each in self.running:
            if each == first:
                continue
            lead = self.leads(first, each) if first is not None else -self.gains(each)
            if self.interval(lead).low > 0:
                found[each] = first
        return found

    def ahead(self, contender: K, other: K) -> bool:
        """Whether its turns show that it is faster than the other."""
        return self.interval(self.leads(contender, other)).low > 0

    def interval(self, differences: Array) -> Interval:
        """At the level of this race; for a few turns the one that only finds large differences."""
        few = len(differences) < FEWEST_PAIRS
        return (early_sequence if few else sequence)(differences, self.level)

    def claim(self, contender: K) -> Estimate:
        """What the turns of this race alone show of it, at the level of this race: for a race that was cut short."""
        gains = self.gains(contender)
        found = sequence(gains, self.level)
        centre = math.exp(float(np.median(gains))) if len(gains) else None
        if not math.isfinite(found.low):
            return Estimate(Outcome.INCONCLUSIVE, centre, None, None, None)
        outcome = Outcome.FASTER if found.low > 0 and self._beats_both(contender) else Outcome.INCONCLUSIVE
        low, high = found.factors()
        return Estimate(outcome, centre, low, high, (low, high))

    def _beats_both(self, contender: K) -> bool:
        own = np.array(self._logs[contender])
        both = np.array(self._unchanged)[: len(own)].T
        return all(sequence(one - own, self.level).low > 0 for one in both)

    def proof(self, contender: K) -> Estimate:
        """What the turns of this race show of the one contender that it was made for, at the level 5%.

        Faster only where it beats both times of the unchanged cell: what one of these alone would claim is noise.
        """
        found = estimate(self.gains(contender))
        if found.outcome is Outcome.FASTER and not self._beats_both(contender):
            low, high = found.sequence or (None, None)
            return Estimate(Outcome.INCONCLUSIVE, found.ratio, low, high, found.sequence)
        return found
