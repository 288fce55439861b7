"""Whether values grow from one iteration to the next, and how surely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.model.table import Array

# fewer values show no trend that would hold
FEWEST_VALUES = 10
# the slopes of all pairs are taken: more values are put together by their medians
_MOST_VALUES = 240
# the first ones warm up, or tune
_WARM_UP_SHARE = 0.1
_END_SHARE = 0.125
_FEWEST_AT_END = 3
# Kendall's rank correlation
_LEAST_RANK = 0.5
_NORMAL_95 = 1.96
# a fall below that share of what was there before begins anew: the next prompt, the next epoch
_RESET = 0.6
_AROUND = 5


@dataclass(frozen=True)
class Trend:
    """`early` and `late`: medians near the beginning, warm-up apart, and at the end, around the values of number
    `first` and `last` (from 1). `rank`: Kendall's rank correlation with the number, -1..1. `slope`: the median of the
    slopes of all pairs (Theil and Sen), per iteration, `least_slope` the low end of its 95 % interval (Sen 1968:
    the rank (N - 1.96 √(n(n - 1)(2n + 5)/18)) / 2 of N slopes). `by_line` and `by_step`: how much of the variance of
    the values' ranks a straight line explains, and the best step from one level to another (R², 0..1)."""

    early: float
    late: float
    first: int
    last: int
    rank: float
    slope: float
    least_slope: float
    by_line: float
    by_step: float

    @property
    def ratio(self) -> float:
        """`late` over `early`; 1 where that is 0."""
        return self.late / self.early if self.early > 0 else 1.0

    @property
    def grows(self) -> bool:
        """Whether it rises steadily: not by chance, nor at one place, where clocks or the work change."""
        return self.rank >= _LEAST_RANK and self.least_slope > 0 and self.by_line > self.by_step


def trend(values: Array) -> Trend | None:
    """Of numbers of shape `(iterations,)`; None for fewer than FEWEST_VALUES after the warm-up."""
    skipped = int(np.ceil(_WARM_UP_SHARE * len(values)))
    kept = np.asarray(values[skipped:], np.float64)
    if len(kept) < FEWEST_VALUES:
        return None
    place = np.arange(skipped + 1, len(values) + 1, dtype=np.float64)
    window = max(_FEWEST_AT_END, round(_END_SHARE * len(kept)))
    early, late = float(np.median(kept[:window])), float(np.median(kept[-window:]))
    by_line, by_step = _explained(kept)
    slope, least, rank = _slopes(*_thinned(place, kept))
    return Trend(
        early,
        late,
        first=int(np.median(place[:window])),
        last=int(np.median(place[-window:])),
        rank=rank,
        slope=slope,
        least_slope=least,
        by_line=by_line,
        by_step=by_step,
    )


def numbered(values: Array) -> Array:
    """For each value its number since it was last small again, from 0; int64 of the same shape.

    Where a loop runs anew for each prompt its cost falls back; it does not where single values are small.
    """
    count, values = len(values), np.asarray(values, np.float64)
    begins = [0]
    if count >= 2 * _AROUND:
        middle = np.median(np.lib.stride_tricks.sliding_window_view(values, _AROUND), axis=1)
        falls = middle[_AROUND:] < _RESET * middle[:-_AROUND]
        falls &= values[_AROUND : count - _AROUND + 1] < _RESET * values[_AROUND - 1 : count - _AROUND]
        for at in (np.flatnonzero(falls) + _AROUND).tolist():
            if at - begins[-1] >= _AROUND:
                begins.append(at)
    lengths = np.diff([*begins, count])
    if len(lengths) > 1 and np.median(lengths) < FEWEST_VALUES:
        return np.arange(count)
    found: Array = np.arange(count) - np.repeat(begins, lengths)
    return found


def by_number(values: Array, number: Array) -> Array:
    """The median of the values of each number, as long as half of the series are."""
    lengths = np.bincount(number)
    kept = np.flatnonzero(2 * lengths > lengths[0]) if len(lengths) else lengths
    return np.array([np.median(values[number == each]) for each in kept])


def _explained(values: Array) -> tuple[float, float]:
    """Of the variance of the ranks: by a line over the number, and by the best step. Equal values share a rank."""
    same = np.unique(values, return_inverse=True)[1].reshape(-1)
    held = np.bincount(same)
    ranks = (np.cumsum(held) - (held - 1) / 2)[same]
    ranks = ranks - ranks.mean()
    whole = float((ranks**2).sum())
    if not whole:
        return 0.0, 0.0
    place = np.arange(len(ranks)) - (len(ranks) - 1) / 2
    before = np.arange(1, len(ranks))
    between = np.cumsum(ranks)[:-1] ** 2 * (1 / before + 1 / (len(ranks) - before))
    return float((place * ranks).sum() ** 2 / (place**2).sum() / whole), float(between.max() / whole)


def _thinned(place: Array, values: Array) -> tuple[Array, Array]:
    if len(values) <= _MOST_VALUES:
        return place, values
    return _medians(place), _medians(values)


def _medians(values: Array) -> Array:
    """Of the parts that `np.array_split` makes."""
    size, longer = divmod(len(values), _MOST_VALUES)
    edge = longer * (size + 1)
    parts = values[:edge].reshape(longer, size + 1), values[edge:].reshape(_MOST_VALUES - longer, size)
    return np.concatenate([np.median(part, axis=1) for part in parts])


def _slopes(place: Array, values: Array) -> tuple[float, float, float]:
    one, other = np.triu_indices(len(values), 1)
    rises = values[other] - values[one]
    slopes = np.sort(rises / (place[other] - place[one]))
    count = len(values)
    spread = _NORMAL_95 * np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    least = slopes[max(int((len(slopes) - spread) / 2), 0)]
    return float(np.median(slopes)), float(least), float(np.mean(np.sign(rises)))
