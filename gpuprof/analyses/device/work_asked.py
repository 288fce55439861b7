"""For which line and operator each piece of the device's work is done: backward work for its forward operator."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.analyses.basics.host_marks import outermost, picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_LINES = 3
_LEAST_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class WorkAsked(Result):
    """Arrays of one row a device event. `operator`: row of the outermost forward operator, -1: none is known;
    `backward`: it is done in a backward pass; `source_file`, `line`, `cell_line` as in `line_events`, `line` -1 where
    none is known; `duration_ns`.
    """

    operator: Array
    backward: Array
    source_file: Array
    line: Array
    cell_line: Array
    duration_ns: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From launches, the graph's joins and the lines that threads were in."""
        events, operators = trace.device_events, trace.operators
        threads, times = issued_at(trace, events)
        rows = picked(trace.calls["operator"], events["call"])
        rows = np.where(rows >= 0, rows, events["operator"])
        node = _node_above(trace, rows)
        maker = picked(makers(trace), node)
        made = maker >= 0
        threads = np.where(made, picked(operators["thread"], maker), threads)
        times = np.where(made, picked(operators["start_ns"], maker), times)
        places = results.get(LinePlaces)
        at = places.at(threads, times)
        return cls(
            operator=outermost(trace, np.where(made, maker, rows)),
            backward=node >= 0,
            source_file=picked(places.events["source_file"], at),
            line=picked(places.events["line"], at),
            cell_line=picked(places.events["cell_line"], at),
            duration_ns=events["duration_ns"],
        )

    def of_rows(self, rows: Array) -> Self:
        """The same for these device events alone."""
        return type(self)(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    def lines(self, rows: Array) -> tuple[int, ...]:
        """The lines of the profiled cell that these device events are for: three at most, those with most of their
        time; a function of another cell counts for the line that called it."""
        own = np.where(self.source_file[rows] == 0, self.line[rows], self.cell_line[rows])
        total = np.bincount(np.maximum(own, 0), weights=np.where(own > 0, self.duration_ns[rows], 0))
        longest = np.argsort(-total, kind="stable")[:_MOST_LINES]
        return tuple(
            sorted(int(line) for line in longest if total[line] > 0 and total[line] >= _LEAST_SHARE * total.sum())
        )


def _node_above(trace: Trace, rows: Array) -> Array:
    """The node of the autograd graph at or around each row of operators; -1 where there is none."""
    nodes, parents = backward_mask(trace), trace.operators["parent"]
    found, at = np.full(len(rows), -1, np.int64), rows.copy()
    while (at >= 0).any():
        here = np.flatnonzero((at >= 0) & (picked(nodes.astype(np.int64), at) > 0))
        # the outermost one: it has the number that joins it to its maker
        found[here] = at[here]
        at = picked(parents, at)
    return found
