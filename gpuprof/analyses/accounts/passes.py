"""When the cell trains and when it only reads data: the passes of its DataLoaders, with and without optimizer steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# an iteration that much longer than the median one holds something else as well: an evaluation, a checkpoint
_UNLIKE = 3.0


@dataclass(frozen=True, eq=False)
class Passes(Result):
    """Unix times. `trains`: whether an optimizer stepped in the cell at all.

    `training`: the union from the first to the last iteration, without the passes over a DataLoader in which no
    optimizer stepped; these are `reading`. `regular`: the union of the iterations of at most three times the median
    length, which hold no evaluation. `first_ns`: where the first iteration begins, None where there is none.
    """

    trains: bool
    training: Intervals
    reading: Intervals
    regular: Intervals
    first_ns: int | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the iterations of the cell and the waits of its loaders."""
        rows, loaders = trace.iterations, trace.context.loaders
        stepped = rows["start_ns"][rows["optimizer_ns"] >= 0] if len(rows) else np.zeros(0, np.int64)
        passes = [each for loader in loaders for each in _passes(loader)]
        reading = [each for each in passes if not ((stepped >= each[0]) & (stepped <= each[1])).any()]
        apart = intervals.union(Intervals(*_columns(reading)))
        if not len(stepped):
            return cls(False, intervals.EMPTY, apart, intervals.EMPTY, None)
        waits = [start for loader in loaders for start in loader.wait_start_ns if start <= stepped[0]]
        first, last = max(waits, default=int(stepped[0])), int((rows["start_ns"] + rows["duration_ns"]).max())
        training = intervals.subtract(intervals.single(first, last), apart)
        lengths = rows["duration_ns"]
        regular = intervals.union(intervals.of(rows.take(lengths <= _UNLIKE * np.median(lengths))))
        return cls(True, training, apart, regular, first)


def _passes(loader: Loader) -> list[tuple[int, int]]:
    """From the call of `iter()` to about the end of the last batch's work."""
    waits, lengths = np.array(loader.wait_start_ns, np.int64), np.array(loader.wait_ns, np.int64)
    # an iterator made before the cell has begun with its first wait
    begins = np.array(loader.iteration_start_ns or loader.wait_start_ns[:1], np.int64)
    ends = np.append(begins[1:], np.iinfo(np.int64).max)[: len(begins)]
    found = []
    for begin, end in zip(begins, ends, strict=True):
        inside = np.flatnonzero((waits >= begin) & (waits < end))
        if len(inside):
            usual = int(np.median(np.diff(waits[inside]))) if len(inside) > 1 else 0
            last = int(waits[inside[-1]] + max(usual, lengths[inside[-1]]))
            found.append((int(begin), min(last, int(end))))
    return found


def _columns(pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
