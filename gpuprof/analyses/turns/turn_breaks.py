"""Loops whose turns were found to begin in the midst of what the text repeats, as where a look began there."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.turns.turns import SequenceHashes, TurnLoop, loop_at
from gpuprof.model.table import Array

# longer turns are not tried at each of their operators
_LONGEST = 512


def from_break(keys: Array, loop: TurnLoop, least: int, alike: float) -> TurnLoop | None:
    """The loop with turns that begin where the loop of the text does: of all operators of a turn that at which the
    fewest operators lie between whole turns. None where it does not matter, or where the loop then has too few turns.

    Between two runs of the loop stands something else. Turns that begin elsewhere lose a whole one there, as it is
    parted. `keys`: by operator what it is; `least`: turns of a run; `alike`: the least share of turns with the most
    common sequence.
    """
    first = _first_of_two(loop)
    if first is None:
        return None
    start, length = first
    hashes = SequenceHashes(keys)
    begins = np.arange(len(keys) - length + 1)
    texts = hashes.of(begins, begins + length)
    found = [np.flatnonzero(texts == texts[start + by]) for by in range(length)]
    lost = np.array([each[-1] - each[0] - (len(each) - 1) * length for each in found])
    best = int(np.argmin(lost))
    if lost[best] < 0 or lost[best] == lost.max():
        return None
    return loop_at(keys, found[best], least, alike)


def _first_of_two(loop: TurnLoop) -> tuple[int, int] | None:
    """Where the first two usual turns in a row begin, and how many operators a turn has."""
    for run in loop.runs:
        pairs = np.flatnonzero(run.usual[:-1] & run.usual[1:] & (run.ends[:-1] == run.starts[1:]))
        if len(pairs):
            start, end = int(run.starts[pairs[0]]), int(run.ends[pairs[0]])
            return (start, end - start) if end - start <= _LONGEST else None
    return None
