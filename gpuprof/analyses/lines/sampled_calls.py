"""The sampled time of lines of code, with what they call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class CalledTime(NamedTuple):
    """`ns`, `during` on the trace's clock; `called`: time by the bare name of the functions that were called there.
    `cell_lines`: the lines of the profiled cell that most of it was spent in; of other code those that led to it."""

    ns: int
    during: Intervals
    cell_lines: tuple[int, ...]
    called: dict[str, float]


class SampledCalls:
    """The stacks of the whole cell; `total_ns` of them all."""

    def __init__(self, trace: Trace, stretches: Stretches):
        self._nodes, self._stretches, self.total_ns = trace.stack_nodes, stretches, stretches.total_ns
        stacks = trace.context.stacks
        self._files = stacks.files if stacks else ()
        self._functions = stacks.functions if stacks else ()
        self._ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0

    def sampled_as(self, file: str) -> str:
        """The name of the code's file; that of the profiled cell for an empty one."""
        return file or next((each.filename for each in self._files if each.kind == "cell"), "")

    def file(self, name: str) -> tuple[str, int | None]:
        """The file as it is known elsewhere: empty for the profiled cell; with the count of its execution."""
        found = next((each for each in self._files if each.filename == name), None)
        return ("", None) if found is None or found.kind == "cell" else (name, found.execution_count)

    def time(self, file: str, first: int, last: int, only: Collection[str] = ()) -> CalledTime:
        """Of the lines `first` to `last` of the code; with `only`, of the functions of these bare names they call."""
        return self.time_at(file, range(first, last + 1), only)

    def time_at(self, file: str, lines: Collection[int], only: Collection[str] = ()) -> CalledTime:
        """Of these lines of the code; with `only`, of the functions of these bare names that they call."""
        numbers = [row for row, each in enumerate(self._files) if each.filename == file]
        own = np.isin(self._nodes["sampled_file"], numbers) & np.isin(self._nodes["line"], list(lines))
        within = np.zeros(len(own) + 1, bool)
        for row, parent in enumerate(self._nodes["parent"].tolist()):
            begins = own[row] if not only else parent >= 0 and own[parent] and self._bare(row) in only
            within[row] = begins or (parent >= 0 and within[parent])
        rows = np.flatnonzero(within[self._stretches.node])
        starts = self._stretches.start_ns[rows] + self._ahead_ns
        lasted = self._stretches.duration_ns[rows]
        during = intervals.union(Intervals(starts, starts + lasted))
        spent = np.bincount(self._stretches.node[rows], lasted, len(within)) if len(rows) else np.zeros(len(within))
        return CalledTime(int(lasted.sum()), during, *self._lines_and_calls(spent, own))

    def led_by(self, file: str, lines: Collection[int]) -> frozenset[int]:
        """The lines of the profiled cell that these lines of the code were called from, or are."""
        numbers = [row for row, each in enumerate(self._files) if each.filename == file]
        own = np.isin(self._nodes["sampled_file"], numbers) & np.isin(self._nodes["line"], list(lines))
        found = set[int]()
        for row in np.flatnonzero(own).tolist():
            while row >= 0:
                if self._is_cell(row):
                    found.add(int(self._nodes["line"][row]))
                row = int(self._nodes["parent"][row])
        return frozenset(found)

    def _bare(self, row: int) -> str:
        return self._functions[int(self._nodes["function"][row])].rpartition(".")[2]

    def _lines_and_calls(self, spent: Array, own: Array) -> tuple[tuple[int, ...], dict[str, float]]:
        """`spent`: in each node itself; the lines themselves and what is below them."""
        inside, led = defaultdict[int, float](float), defaultdict[int, float](float)
        called = defaultdict[str, float](float)
        below = own.copy()
        for row, parent in enumerate(self._nodes["parent"].tolist()):
            below[row] |= parent >= 0 and below[parent]
        for row in range(len(own) - 1, -1, -1):
            if not below[row] or not spent[row]:
                continue
            if self._is_cell(row):
                inside[int(self._nodes["line"][row])] += spent[row]
            elif own[row]:
                led[self._caller(row)] += spent[row]
            if (parent := int(self._nodes["parent"][row])) >= 0:
                spent[parent] += spent[row]
                if own[parent]:
                    called[self._bare(row)] += spent[row]
        held = inside or led
        whole = max(held.values(), default=0.0)
        return tuple(sorted(line for line, ns in held.items() if ns > whole / 2 and line > 0)), called

    def _is_cell(self, row: int) -> bool:
        return self._files[int(self._nodes["sampled_file"][row])].kind == "cell"

    def _caller(self, row: int) -> int:
        """The innermost line of the profiled cell above; 0 where there is none."""
        while row >= 0 and not self._is_cell(row):
            row = int(self._nodes["parent"][row])
        return int(self._nodes["line"][row]) if row >= 0 else 0
