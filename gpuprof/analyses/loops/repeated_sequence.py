"""Where a sequence of names repeats itself, though no two repetitions need be quite the same.

A short piece of the sequence that occurs once in each repetition, an anchor, cuts it; the cut is kept where almost
every piece is like the one before it. Pieces may grow, and the first and last may differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpuprof.model.table import Array

FEWEST = 5
# matched names: a shorter match may be chance
_LEAST_MATCHED = 20
# anchors are at most so many names long, and twice as long each time they are looked for
_LONGEST_ANCHOR = 64
# A piece is like the one before where that share of both is the same from the left or from the right; a model's head
# after its last layer is more than the rest.
_LIKE = 0.9
_LIKE_SHARE = 0.97
# mean change between neighboring distances of an anchor, over the larger of the two
_ROUGHEST = 0.25
_LEAST_EXTENT = 0.3
_MOST_TRIED = 24
_AS_LONG = 0.9
_LAST = 3
# of many pieces so many are compared first
_SAMPLED = 64
_SAMPLE_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Turns:
    """`bounds`: int64 of shape `(turns + 1,)`, the position where each begins and where the last one ends."""

    bounds: Array

    @property
    def count(self) -> int:
        """How many turns there are."""
        return len(self.bounds) - 1

    @property
    def length(self) -> int:
        """Names from the first to the end of the last."""
        return int(self.bounds[-1] - self.bounds[0])


@dataclass(frozen=True, eq=False)
class RepeatedSequence(Turns):
    """`alike`: the mean share of a turn that is as in the one before, 0..1."""

    alike: float


def repeated_sequence(tokens: Array) -> RepeatedSequence | None:
    """The repetition that covers most of `tokens` (whole numbers of shape `(names,)`), the finest of several.

    None where nothing clearly repeats at least FEWEST times over a third of the sequence. O(n log n).
    """
    found = [each for anchor in _anchors(tokens) if (each := _cut(tokens, anchor)) is not None]
    if not found:
        return None
    longest = max(each.length for each in found)
    covering = [each for each in found if each.length >= _AS_LONG * longest]
    return max(covering, key=lambda each: (each.count, each.alike, each.length))


def _anchors(tokens: Array) -> Iterator[Array]:
    """Positions of pieces that recur at even distances, the most even one for each number of occurrences."""
    best: dict[int, tuple[float, int, Array]] = {}
    for rank in _ranks(tokens):
        order = np.argsort(rank, kind="stable")
        begins = np.flatnonzero(np.diff(rank[order], prepend=-1) != 0)
        counts = np.diff(np.append(begins, len(order)))
        extents = order[begins + counts - 1] - order[begins]
        kept = (counts >= FEWEST) & (extents >= _LEAST_EXTENT * len(tokens))
        rough = _roughness(order, begins, counts)
        for group in np.flatnonzero(kept & (rough <= _ROUGHEST)).tolist():
            begin, count = int(begins[group]), int(counts[group])
            score = float(rough[group]), -int(extents[group])
            if count not in best or score < best[count][:2]:
                best[count] = *score, order[begin : begin + count]
    chosen = sorted(best.values(), key=lambda each: (each[0], each[1]))[:_MOST_TRIED]
    return (places for _, _, places in chosen)


def _roughness(order: Array, begins: Array, counts: Array) -> Array:
    """For each group of positions the mean change between neighboring distances, over the larger of the two."""
    gaps = np.diff(order)
    change = np.abs(np.diff(gaps)) / np.maximum(np.maximum(np.abs(gaps[1:]), np.abs(gaps[:-1])), 1)
    total = np.concatenate(([0.0], np.cumsum(change)))
    ends = np.maximum(begins + counts - 2, begins)
    mean: Array = (total[np.minimum(ends, len(change))] - total[np.minimum(begins, len(change))]) / np.maximum(
        counts - 2, 1
    )
    return mean


def _ranks(tokens: Array) -> Iterator[Array]:
    """A number for each piece of 1, 2, 4, … names, the same for the same names, by the position where it begins."""
    if len(tokens) < FEWEST:
        return
    rank = np.unique(tokens, return_inverse=True)[1].reshape(-1).astype(np.int64)
    length = 1
    yield rank
    while 2 * length <= min(_LONGEST_ANCHOR, len(tokens) // FEWEST):
        pairs = rank[: len(rank) - length] * (int(rank.max()) + 1) + rank[length:]
        rank = np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)
        length *= 2
        yield rank


def _cut(tokens: Array, places: Array) -> RepeatedSequence | None:
    """The repetition between these anchors; None where the pieces are not alike."""
    pieces = [tokens[begin:end] for begin, end in pairwise(places)]
    pairs = list(pairwise(pieces))
    if len(pairs) > _SAMPLED:
        looked_at = [_likeness(*pairs[each]) for each in np.linspace(0, len(pairs) - 1, _SAMPLED, dtype=int)]
        if np.mean(np.array(looked_at) >= _LIKE) < _SAMPLE_SHARE:
            return None
    alike = np.array([_likeness(*pair) for pair in pairs])
    good = np.flatnonzero(alike >= _LIKE)
    if not len(good):
        return None
    first, last = int(good[0]), int(good[-1])
    alike, places = alike[first : last + 1], places[first : last + 3]
    if np.mean(alike >= _LIKE) < _LIKE_SHARE:
        return None
    bounds = _extended(tokens, places)
    matched = float(np.sum(alike * np.diff(places)[1:]))
    if len(bounds) <= FEWEST or matched < _LEAST_MATCHED or bounds[-1] - bounds[0] < _LEAST_EXTENT * len(tokens):
        return None
    return RepeatedSequence(bounds, float(alike.mean()))


def _likeness(one: Array, other: Array) -> float:
    """Names that are the same from the left or from the right, in both, over all of them; 0..1."""
    shorter = min(len(one), len(other))
    left = same_beginning(one, other)
    right = same_beginning(one[::-1], other[::-1]) if left < shorter else 0
    return 2 * min(left + right, shorter) / (len(one) + len(other))


def same_beginning(one: Array, other: Array) -> int:
    """How many names are the same from the beginning on."""
    shorter = min(len(one), len(other))
    differs = one[:shorter] != other[:shorter]
    return int(np.argmax(differs)) if differs.any() else shorter


def _extended(tokens: Array, places: Array) -> Array:
    """The bounds: moved to the left as far as the beginning of the first repetition is like that of the second."""
    first, second, before, last = places[0], places[1], places[-2], places[-1]
    most = min(int(second - first), int(first))
    left = same_beginning(tokens[first - most : first][::-1], tokens[second - most : second][::-1])
    bounds: Array = places - left
    right = same_beginning(tokens[before:last], tokens[last:])
    # the last one is whole where it goes on as far as one of those before
    if left + right >= _LIKE * np.diff(places)[-_LAST:].min():
        bounds = np.append(bounds, min(int(last) + right, int(bounds[-1] + last - before)))
    return bounds
