"""The line of the notebook that each sampled stack stands in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook")


@dataclass(frozen=True, eq=False)
class StackLines(Result):
    """For each row of `stack_nodes`, arrays of its shape: the innermost frame of the notebook at or above it.

    `source_file`: its place among the notebook's files in `context.stacks.files` (0: the cell), not the row of the
    followed files; -1 where none is. `line`: its line, -1 where none is known; `cell_line`: the line of the profiled
    cell that led there, -1 where none did. `row`: that frame's own row. `parent`: the row of the frame that
    called, -1 for none; `called`: the line of the profiled cell that the frame itself is in, -1 elsewhere.
    """

    source_file: Array
    line: Array
    cell_line: Array
    row: Array
    parent: Array
    called: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Parents stand before their children, so one pass is enough."""
        nodes, stacks = trace.stack_nodes, trace.context.stacks
        files = [each for each in (stacks.files if stacks else ()) if each.kind in _OWN]
        number = {each.filename: row for row, each in enumerate(files)}
        own = np.array([number.get(each.filename, -1) for each in (stacks.files if stacks else ())], np.int64)
        file_of = own[nodes["sampled_file"]] if len(own) else np.full(len(nodes), -1, np.int64)
        is_own = file_of >= 0
        columns = np.full((4, len(nodes)), -1, np.int64)
        source_file, line, cell_line, row = columns
        for at, parent in enumerate(nodes["parent"]):
            if parent >= 0:
                columns[:, at] = columns[:, parent]
            if is_own[at]:
                source_file[at], line[at], row[at] = file_of[at], nodes["line"][at], at
                if file_of[at] == 0:
                    cell_line[at] = nodes["line"][at]
        called = np.where(file_of == 0, nodes["line"], -1)
        return cls(source_file, line, cell_line, row, nodes["parent"], called)

    def through(self, lines: Collection[int]) -> Array:
        """Boolean mask over the rows: stacks that pass one of these lines of the profiled cell."""
        found: Array = np.isin(self.called, list(lines))
        for at, parent in enumerate(self.parent.tolist()):
            found[at] |= parent >= 0 and found[parent]
        return found
