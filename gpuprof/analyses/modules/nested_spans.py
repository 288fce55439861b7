"""Intervals of threads that lie in one another: who is around whom, and which one is innermost when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.model.table import Array


@dataclass(frozen=True, eq=False)
class NestedSpans:
    """Intervals, sorted by thread, start and then the longest first; int64 arrays of shape `(n,)`.

    `source`: the place of each among those that were given. `parent`: row of the one around it, -1 at the top. An
    interval ends where the one around it does, at the latest.
    """

    thread: Array
    start_ns: Array
    end_ns: Array
    source: Array
    parent: Array

    @classmethod
    def of(cls, thread: Array, start_ns: Array, end_ns: Array) -> Self:
        """Of intervals in any order; empty ones stay."""
        order = np.lexsort((-end_ns, start_ns, thread))
        threads, starts = thread[order].astype(np.int64), start_ns[order].astype(np.int64)
        ends, parent = np.maximum(end_ns[order], start_ns[order]).astype(np.int64).tolist(), [-1] * len(order)
        stack: list[int] = []
        current = None
        for row, (on, start) in enumerate(zip(threads.tolist(), starts.tolist(), strict=True)):
            if on != current:
                current = on
                stack.clear()
            while stack and ends[stack[-1]] <= start:
                stack.pop()
            if stack:
                parent[row] = stack[-1]
                ends[row] = min(ends[row], ends[stack[-1]])
            stack.append(row)
        return cls(threads, starts, np.array(ends, np.int64), order, np.array(parent, np.int64))

    def own_ns(self) -> Array:
        """The length of each without those in it, ns, shape `(n,)`."""
        own = self.end_ns - self.start_ns
        inner = self.parent >= 0
        taken = np.zeros(len(own), np.int64)
        np.add.at(taken, self.parent[inner], own[inner])
        return own - taken

    def at(self, threads: Array, times: Array) -> Array:
        """The innermost row around each instant of a thread, [start, end); int64 of `times`' shape, -1 where none."""
        found = np.full(len(times), -1, np.int64)
        for number in np.unique(threads):
            first, stop = np.searchsorted(self.thread, [number, number + 1])
            asked = np.flatnonzero(threads == number)
            if first == stop:
                continue
            row = first + np.searchsorted(self.start_ns[first:stop], times[asked], side="right") - 1
            row = np.where(row >= first, row, -1)
            while (over := (row >= 0) & (self.end_ns[row] <= times[asked])).any():
                row[over] = self.parent[row[over]]
            found[asked] = row
        return found
