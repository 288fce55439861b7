"""Where a sequence of names goes round: short turns that are nearly alike, cut at marked places.

Turns need not be quite the same, since a branch or a name may come and go, and a sequence may go round in many places.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuprof.analyses.loops.repeated_sequence import Turns, same_beginning
from gpuprof.model.table import Array

LEAST_TURNS = 10
# names: longer pieces are passes of a model rather than turns
_LONGEST_TURN = 64
_LONGEST_ANCHOR = 8
# of the names of two neighboring turns, whatever their order
_LIKE = 0.85
# candidates that cover so much of the longest are the same turns, cut finer
_AS_LONG = 0.9


def turns_at(tokens: Array, section: Array, marks: Array) -> list[Turns]:
    """All stretches of at least LEAST_TURNS turns, in order, none within another.

    `tokens`: whole numbers of shape `(names,)`; `section`: of that shape, no turn holds two of them; `marks`: positions
    in order, of which each turn holds at least one.
    """
    found = [turns for places in _anchors(tokens, section, marks) for turns in _alike(tokens, section, places)]
    found.sort(key=lambda turns: -turns.length)
    taken, kept = np.zeros(len(tokens), bool), []
    for longest in found:
        if taken[longest.bounds[0] : longest.bounds[-1]].any():
            continue
        rivals = [each for each in found if _same_stretch(each, longest)]
        chosen = max(rivals, key=lambda turns: (turns.count, turns.length))
        if taken[chosen.bounds[0] : chosen.bounds[-1]].any():
            chosen = longest
        taken[longest.bounds[0] : longest.bounds[-1]] = True
        kept.append(chosen)
    return sorted(kept, key=lambda turns: int(turns.bounds[0]))


def _same_stretch(one: Turns, longest: Turns) -> bool:
    both = min(one.bounds[-1], longest.bounds[-1]) - max(one.bounds[0], longest.bounds[0])
    return bool(both >= _AS_LONG * longest.length)


def _anchors(tokens: Array, section: Array, marks: Array) -> Iterator[Array]:
    """Marked places that begin the same piece of 1, 2, 4, … names, each near the one before."""
    if len(marks) < LEAST_TURNS:
        return
    rank, length = np.unique(tokens, return_inverse=True)[1].reshape(-1).astype(np.int64), 1
    while length <= _LONGEST_ANCHOR and len(rank):
        places = marks[marks < len(rank)]
        places = places[np.argsort(rank[places], kind="stable")]
        apart = (np.diff(rank[places]) != 0) | (np.diff(places) > _LONGEST_TURN) | (np.diff(section[places]) != 0)
        edges = np.concatenate(([0], np.flatnonzero(apart) + 1, [len(places)]))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if end - begin >= LEAST_TURNS:
                yield places[begin:end]
        pairs = rank[: len(rank) - length] * (int(rank.max()) + 1) + rank[length:]
        rank = np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)
        length *= 2


def _alike(tokens: Array, section: Array, places: Array) -> Iterator[Turns]:
    """The parts of these anchors whose pieces are like their neighbors."""
    # the anchor may stand anywhere in a turn: turns begin where the first one does
    first, second = int(places[0]), int(places[1])
    most = min(second - first, int((section[:first][::-1] == section[first]).cumprod().sum()))
    bounds = places - same_beginning(tokens[first - most : first][::-1], tokens[second - most : second][::-1])
    good = _likeness(tokens, bounds) >= _LIKE
    edges = np.diff(np.concatenate(([0], good.astype(np.int8), [0])))
    for begin, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        whole = _with_ends(tokens, section, bounds[begin : end + 2])
        if len(whole) > LEAST_TURNS:
            yield Turns(whole)


def _with_ends(tokens: Array, section: Array, bounds: Array) -> Array:
    """The bounds, with those of a turn behind the last and before the first one, where it is like its neighbor."""
    usual = int(np.median(np.diff(bounds)))
    begin, end = int(bounds[0]), int(bounds[-1])
    after, before = end + usual, begin - usual
    if after <= len(tokens) and (section[end:after] == section[end - 1]).all():
        longer = np.append(bounds, after)
        bounds = longer if _likeness(tokens, longer[-3:])[0] >= _LIKE else bounds
    if before >= 0 and (section[before:begin] == section[begin]).all():
        longer = np.concatenate(([before], bounds))
        bounds = longer if _likeness(tokens, longer[:3])[0] >= _LIKE else bounds
    return bounds


def _likeness(tokens: Array, bounds: Array) -> Array:
    """For each two neighboring pieces the names that both have, over all of them; 0..1, shape `(pieces - 1,)`."""
    names, column = np.unique(tokens[bounds[0] : bounds[-1]], return_inverse=True)
    lengths = np.diff(bounds)
    row = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.zeros((len(lengths), len(names)), np.int32)
    np.add.at(counts, (row, column.reshape(-1)), 1)
    both = np.minimum(counts[1:], counts[:-1]).sum(axis=1)
    alike: Array = 2 * both / np.maximum(lengths[1:] + lengths[:-1], 1)
    return alike
