"""Loops in the order of operators: stretches in which the same operators come turn after turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuprof.model.table import Array

# a turn that is longer than so many usual ones holds what is between two loops
_LONGEST_IN_USUAL = 2
_ODD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class LoopRun:
    """One loop at work: `starts[i]:ends[i]` are the rows of turn `i`, in the order in which operators ended.

    `usual`: turns with the most common sequence of operators, bool by turn.
    """

    starts: Array
    ends: Array
    usual: Array

    @property
    def count(self) -> int:
        """How many turns."""
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class TurnLoop:
    """A loop each time that it ran long enough. `turn`: by operator the number of its turn, -1 outside; numbers go on
    from run to run. `run`: by operator which run, -1 outside. `around`: by operator the number of its turn where what
    lies between two runs is part of the last turn before it; -1 before the first."""

    runs: tuple[LoopRun, ...]
    turn: Array
    run: Array
    around: Array

    def later(self, keys: Array, by: int, alike: float) -> TurnLoop | None:
        """The same loop with turns that begin so many operators later; None where it then has too few turns."""
        heads = np.concatenate([run.starts for run in self.runs]) + by
        return loop_at(keys, heads, min(run.count for run in self.runs) - 1, alike)


def loop_at(keys: Array, heads: Array, least: int, alike: float) -> TurnLoop | None:
    """The loop whose turns begin at these rows, each run with so many of them at least; None where none has."""
    runs = tuple(_runs(SequenceHashes(keys), heads[heads < len(keys)], (least, least), alike))
    return _loop(runs, heads, len(keys)) if runs else None


def loops(keys: Array, heads: Array, least: int, alike: float, least_cut_off: int = 0) -> Iterator[TurnLoop]:
    """Loops by their first operator, those with the fewest turns first: outer before inner ones.

    `keys`: by operator what it is, such as its name and line as one number; `heads`: which may begin a turn, a mask.
    `least`: turns of a run; `alike`: the least share of turns with the most common sequence. `least_cut_off`: turns of
    a run in which the operators end, where they were cut off; 0 where they were not.
    """
    hashes, fewest = SequenceHashes(keys), (least, least_cut_off or least)
    seen: list[Array] = []
    for positions in _candidates(keys, heads, min(fewest)):
        if any(_same_turns(turn, positions) for turn in seen):
            continue
        runs = tuple(_runs(hashes, positions, fewest, alike))
        if runs and (late := _late(keys, runs[0])):
            positions = positions[positions >= late] - late
            runs = tuple(_runs(hashes, positions, fewest, alike))
        if runs:
            found = _loop(runs, positions, len(keys))
            seen.append(found.turn)
            yield found


def _candidates(keys: Array, heads: Array, least: int) -> list[Array]:
    """Rows of each key that comes often enough: the rarest first, then by where it comes first."""
    rows = np.flatnonzero(heads)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    _, begins = np.unique(keys[rows], return_index=True)
    parts = [part for part in np.split(rows, begins[1:]) if len(part) >= least]
    return sorted(parts, key=lambda part: (len(part), int(part[0])))


def _same_turns(turn: Array, positions: Array) -> bool:
    """Whether most of them come once in each turn of a loop that is known."""
    inside = turn[positions]
    inside = inside[inside >= 0]
    return len(inside) * 2 >= len(positions) and len(np.unique(inside)) * 10 >= len(inside) * 9


class SequenceHashes:
    """Hashes of sequences of operators, each in constant time."""

    def __init__(self, keys: Array) -> None:
        numbers = (np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.uint64) + np.uint64(1)) * np.uint64(
            0xD1342543DE82EF95
        )
        up, down = _powers(_ODD, len(keys) + 1), _powers(pow(_ODD, -1, 1 << 64), len(keys) + 1)
        self._down = down
        self._sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(numbers * up[:-1], dtype=np.uint64)))

    def of(self, starts: Array, ends: Array) -> Array:
        """By sequence `starts:ends`, modulo 2**64."""
        found: Array = (self._sums[ends] - self._sums[starts]) * self._down[starts]
        return found


def _powers(base: int, count: int) -> Array:
    found = np.full(count, base, np.uint64)
    found[0] = 1
    return np.cumprod(found, dtype=np.uint64)


def _runs(hashes: SequenceHashes, positions: Array, fewest: tuple[int, int], alike: float) -> Iterator[LoopRun]:
    """Stretches of turns that begin at these rows, without what follows the last turn of each."""
    last = np.array([len(hashes._sums) - 1], positions.dtype)
    ends = np.concatenate((positions[1:], last))
    texts = hashes.of(positions, ends)
    kinds, begins, counts = np.unique(texts[:-1], return_index=True, return_counts=True)
    usual_text, first = kinds[counts.argmax()], int(begins[counts.argmax()])
    length = int(ends[first] - positions[first])
    usual = texts == usual_text
    within = np.minimum(positions + length, ends)
    begins_so = hashes.of(positions, within) == usual_text
    # the usual turn and something more: the loop ended with it
    final = ~usual & begins_so & (ends - positions > length)
    strange = ~usual & ~final & (ends - positions > _LONGEST_IN_USUAL * length)
    ends = np.where(final, within, ends)
    begin = 0
    for stop in [*np.flatnonzero(final | strange).tolist(), len(positions) - 1]:
        chosen = slice(begin, stop if strange[stop] else stop + 1)
        begin = stop + 1
        run = LoopRun(positions[chosen], ends[chosen], (usual | final)[chosen])
        if not run.count:
            continue
        at_the_end = int(run.ends[-1]) + length > int(last[0])
        if run.count >= fewest[at_the_end] and run.usual.mean() >= alike:
            yield run


def _late(keys: Array, run: LoopRun) -> int:
    """How many operators before its first turn are the end of a turn already: where the look was cut off, the operator
    that comes least often is not the first one of a turn."""
    usual = int(np.flatnonzero(run.usual)[0])
    start, end = int(run.starts[0]), int(run.ends[usual])
    length = end - int(run.starts[usual])
    most = min(length - 1, start)
    same = keys[start - most : start] == keys[end - most : end]
    return int(np.argmin(same[::-1])) if most and not same.all() else most


def _loop(runs: tuple[LoopRun, ...], positions: Array, operators: int) -> TurnLoop:
    turn, run = np.full(operators, -1, np.int64), np.full(operators, -1, np.int64)
    around = np.searchsorted(positions, np.arange(operators), side="right") - 1
    for number, each in enumerate(runs):
        for start, end in zip(each.starts.tolist(), each.ends.tolist(), strict=True):
            turn[start:end], run[start:end] = around[start], number
    return TurnLoop(runs, turn, run, around)
