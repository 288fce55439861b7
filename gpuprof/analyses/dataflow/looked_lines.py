"""The lines of the close look, as the report names lines, and when they ran in the recorded part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
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
    clock: unions, empty where lines were not followed."""

    lines: tuple[UserLine, ...]
    ran: tuple[Intervals, ...]

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
        return cls(lines, tuple(ran))

    def line(self, place: int) -> UserLine | None:
        """Of a row of the looked places; None for -1."""
        return self.lines[place] if 0 <= place < len(self.lines) else None

    def during(self, places: Iterable[int]) -> Intervals:
        """When any of them ran: a union."""
        found = [self.ran[place] for place in places if 0 <= place < len(self.ran)]
        both = [np.concatenate([getattr(each, side) for each in found]) for side in ("starts", "ends")] if found else []
        return intervals.union(Intervals(*both)) if both else intervals.EMPTY
