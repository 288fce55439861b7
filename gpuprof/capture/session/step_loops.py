"""Which optimizer's steps are the iterations of a cell, where several step: together, or one loop after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuprof.capture.look.places import LinePath
from gpuprof.model.table import Array

# steps of one optimizer without one of the leading optimizer: another loop has begun. Where they take turns, as in a
# GAN, there are fewer
_IN_A_ROW = 8


class EndedStep(NamedTuple):
    """A step of the cell: when it ended, and what the optimizers of it took."""

    end_ns: int
    optimizers_ns: int


class StepLoops:
    """Tells the steps of a cell from those of its optimizers.

    In a loop one step is a step of the optimizer that steps most: it leads. Where another one steps eight times in a
    row, the loop is over and a new one has begun: a teacher is trained before its student, one fold after the other.
    `loops` are they: the number of their first step, from 0, and the lines in which its optimizer first stepped.
    """

    def __init__(self) -> None:
        self.loops: list[tuple[int, LinePath]] = []
        self._counts: dict[int, int] = {}
        self._leader: int | None = None
        self._most = self._steps = 0
        # where the optimizer of the last loop first stepped
        self.last: LinePath = ()
        self._in_a_row: dict[int, list[tuple[int, int]]] = {}
        self._spent_ns = self._told_ns = self._began_ns = self._last_end_ns = 0
        self._lasted_ns: dict[LinePath, int] = {}

    def stepped(self, optimizer: int, where: LinePath, end_ns: int, took_ns: int) -> list[EndedStep]:
        """An optimizer has stepped. The steps of the cell that are known to have ended by that, in order."""
        self._spent_ns += took_ns
        if optimizer == self._leader:  # in every iteration: the shortest way
            self._counts[optimizer] = self._most = self._most + 1
            if self._in_a_row:
                self._in_a_row = {}
            self._last_end_ns = end_ns
            return [self._ended(end_ns, self._spent_ns)]
        count = self._counts[optimizer] = self._counts.get(optimizer, 0) + 1
        ends = [(end_ns, self._spent_ns)]
        if count <= self._most:
            ends = self._in_a_row.setdefault(optimizer, [])
            ends.append((end_ns, self._spent_ns))
            if len(ends) < _IN_A_ROW:
                return []
            self._counts, count = {optimizer: len(ends)}, len(ends)
        if self._leader is None or len(ends) > 1:
            self._lasted_ns[self.last] = self._lasted(self.last)
            self.loops.append((self._steps, where))
            self.last = where
            self._began_ns = ends[0][0]
        self._leader, self._most, self._in_a_row = optimizer, count, {}
        self._last_end_ns = end_ns
        return [self._ended(*each) for each in ends]

    def _ended(self, end_ns: int, spent_ns: int) -> EndedStep:
        took_ns, self._told_ns = spent_ns - self._told_ns, spent_ns
        self._steps += 1
        return EndedStep(end_ns, took_ns)

    def alike(self, steps: int, step: int) -> Array:
        """Of the first `steps` steps whether they are of the loop of that step, or of one that steps in the same lines;
        the first one of each loop is not: what lies before it is of neither. Shape (steps,)."""
        firsts = np.array([first for first, _ in self.loops], np.int64)
        numbers = dict[LinePath, int]()
        kinds = np.array([numbers.setdefault(where, len(numbers)) for _, where in self.loops], np.int64)
        loop = np.searchsorted(firsts, np.arange(steps), side="right") - 1
        found: Array = kinds[loop] == kinds[np.searchsorted(firsts, step, side="right") - 1]
        found[firsts[firsts < steps]] = False
        return found

    def last_is_longer_than(self, other: LinePath) -> bool:
        """Whether the last loop, with those that step in the same lines, has taken longer than the one there."""
        return self._lasted(self.last) > self._lasted(other)

    def _lasted(self, where: LinePath) -> int:
        """Of all loops that step there, from their first step on, ns."""
        now_ns = self._last_end_ns - self._began_ns if where == self.last else 0
        return self._lasted_ns.get(where, 0) + now_ns
