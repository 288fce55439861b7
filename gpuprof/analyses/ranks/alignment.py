"""Finds what corresponds in sequences that several ranks recorded of the same exchanges, perhaps not all of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from gpuprof.model.table import Array

# pairs of longer ones would take seconds to compare
MOST_KEYS = 5000
# of the shortest sequence: what is left must be most of it
_LEAST_COMMON = 0.5
# of the longest run: with one nearly as long elsewhere, the sequences repeat themselves
_SECOND_BEST = 0.5

DIFFERENT = "the ranks recorded different sequences"
PERIODIC = "the ranks recorded different numbers of them, and which ones are missing cannot be told"
TOO_LONG = f"the ranks recorded different numbers of them, more than {MOST_KEYS} on each"


def align(sequences: Sequence[Sequence[Hashable]]) -> tuple[Array, ...] | str:
    """For each sequence the places that correspond, all of one length ≥ 1; a reason in words where they cannot be told.

    Equal sequences correspond as they are. Others, because a recording began later or ended earlier, by the longest run
    that all have in common: it must be at least half of the shortest one, and no other run half as long.
    """
    first, *others = map(list, sequences)
    if all(other == first for other in others):
        return tuple(np.arange(len(first)) for _ in sequences) if first else DIFFERENT
    if min(map(len, sequences)) > MOST_KEYS:
        return TOO_LONG
    number: dict[Hashable, int] = {}
    coded = [np.array([number.setdefault(key, len(number)) for key in each], np.int64) for each in sequences]
    least = min(range(len(coded)), key=lambda row: len(coded[row]))
    reference, offsets, begin, end = coded[least], [], 0, len(coded[least])
    for other in coded:
        if other is reference:
            offsets.append(0)
            continue
        found = _longest_run(reference, other)
        if isinstance(found, str):
            return found
        start, offset, length = found
        offsets.append(offset)
        begin, end = max(begin, start), min(end, start + length)
    if end - begin < max(1, _LEAST_COMMON * len(reference)):
        return DIFFERENT
    return tuple(np.arange(begin, end) + offset for offset in offsets)


def _longest_run(reference: Array, other: Array) -> tuple[int, int, int] | str:
    """Where it begins in the reference, by how much later it does in the other one, and its length."""
    best, second = (0, 0, 0), 0
    for offset in range(1 - len(reference), len(other)):
        first, last = max(0, -offset), min(len(reference), len(other) - offset)
        start, length = _longest_true(reference[first:last] == other[first + offset : last + offset])
        if length > best[2]:
            best, second = (first + start, offset, length), best[2]
        else:
            second = max(second, length)
    if best[2] < max(1, _LEAST_COMMON * len(reference)):
        return DIFFERENT
    return PERIODIC if second >= _SECOND_BEST * best[2] else best


def _longest_true(same: Array) -> tuple[int, int]:
    """Begin and length of the longest stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], same.astype(np.int8), [0]))))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    row = int(np.argmax(lengths))
    return int(edges[2 * row]), int(lengths[row])
