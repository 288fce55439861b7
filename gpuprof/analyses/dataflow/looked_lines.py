"""The lines of the close look, as the report names lines, and when they ran in the recorded part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class UserLine:
    """A line of the user's code. `in_cell`: of the profiled cell; `execution_count`: of another cell, where known."""

    file: str
    line: int
    function: str
    in_cell: bool
    execution_count: int | None = None


@dataclass(frozen=True, eq=False)
class LookedLines(Result):
    """`lines`: by row of the looked places. `ran`: when each was the innermost line of the main thread, on the trace's
    clock: unions, empty where lines were not followed. `paths`: the chains of lines by which operators were reached,
    rows of `lines`; `path`, `place`: by operator, its row of them and its line, -1 where not known."""

    lines: tuple[UserLine, ...]
    ran: tuple[Intervals, ...]
    paths: tuple[tuple[int, ...], ...]
    path: Array
    place: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the places, the cell, and the line events."""
        look, cell, followed = trace.context.look, trace.context.cell, trace.context.lines
        files = followed.files if followed else ()
        own = {"", cell.filename if cell else None, files[0].filename if files else None}
        sampled = trace.context.stacks.files if trace.context.stacks else ()
        counts = {each.filename: each.execution_count for each in sampled}
        counts |= {each.filename: each.execution_count for each in files[1:]}
        lines = tuple(
            UserLine(place.file, place.line, place.function, place.file in own, counts.get(place.file))
            for place in (look.places if look else ())
        )
        numbers = {each.filename: number for number, each in enumerate(files)}
        events = results.get(LinePlaces)
        main = events.thread == events.main_thread
        ran = []
        for each in lines:
            number = 0 if each.in_cell else numbers.get(each.file, -2)
            mine = main & (events.events["source_file"] == number) & (events.events["line"] == each.line)
            rows = np.flatnonzero(mine)
            ran.append(intervals.union(Intervals(events.events["time_ns"][rows], events.end_ns[rows])))
        operators = trace.looked_operators
        return cls(lines, tuple(ran), look.paths if look else (), operators["path"], operators["place"])

    def line(self, place: int) -> UserLine | None:
        """Of a row of the looked places; None for -1."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def below(self, file: str, first: int, last: int) -> Array:
        """Rows of the operators that ran in these lines of a file (empty: the profiled cell), or in what they call."""
        inside = [
            first <= each.line <= last and (each.in_cell if not file else each.file == file) for each in self.lines
        ]
        through = [any(inside[row] for row in path if 0 <= row < len(inside)) for path in self.paths]
        at, by = np.array([*inside, False]), np.array([*through, False])
        known = np.where((self.place >= 0) & (self.place < len(inside)), self.place, -1)
        reached = np.where((self.path >= 0) & (self.path < len(through)), self.path, -1)
        return np.flatnonzero(at[known] | by[reached])

    def called_from(self, results: Results, rows: Array) -> tuple[int, float]:
        """The line that most of these operators' time was called from, and its share of that, 0..1; -1 and 0 where
        no such line is known."""
        spent = dict[int, int]()
        lasted = results.get(ValueGraph).operators["duration_ns"][rows]
        for path, ns in zip(self.path[rows].tolist(), lasted.tolist(), strict=True):
            above = self.paths[path][1:2] if 0 <= path < len(self.paths) else ()
            place = above[0] if above else -1
            spent[place] = spent.get(place, 0) + ns
        most = max(spent, key=lambda each: spent[each], default=-1)
        return (most, spent[most] / max(sum(spent.values()), 1)) if most >= 0 else (-1, 0.0)

    def during(self, places: Iterable[int]) -> Intervals:
        """When any of them ran: a union."""
        found = [self.ran[place] for place in places if 0 <= place < len(self.ran)]
        both = [np.concatenate([getattr(each, side) for each in found]) for side in ("starts", "ends")] if found else []
        return intervals.union(Intervals(*both)) if both else intervals.EMPTY
