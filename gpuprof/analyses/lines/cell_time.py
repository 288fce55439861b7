"""Where the time of the whole cell went: by line of the notebook and by what ran below it, from sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

CELL_LINES = TableSchema(
    "cell_lines",
    "one line of the notebook that was seen running",
    (
        Column(
            "source_file", "int32", "place among the notebook's files of context.stacks.files", "0: the profiled cell"
        ),
        Column("line", "int32", "line", "the line, from 1; -1: somewhere in that function"),
        Column("cell_line", "int32", "line", "the line of the profiled cell that led there most; -1 if none"),
        Column("duration_ns", "int64", "ns", "time with this line as the innermost one of the notebook"),
        Column("share", "float64", "0..1", "of the sampled time"),
        Column("error", "float64", "0..1", "standard error of the share, from the number of samples"),
        Column("leaf", "int32", "row of stack_nodes", "the frame below it in which most of its time was spent"),
        Column("leaf_share", "float64", "0..1", "how much of the line's time that was"),
    ),
)


@dataclass(frozen=True, eq=False)
class CellTime(Result):
    """`table`: the lines, the longest first. `sampled_ns`: how long stacks were sampled; `outside_ns`: of that, with no
    line of the notebook on the stack. Empty where no stack was sampled."""

    table: Table
    sampled_ns: int
    outside_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Every stretch counts for the innermost line of the notebook on its stack."""
        lines, stretches = results.get(StackLines), results.get(Stretches)
        total_ns = stretches.total_ns
        if not total_ns:
            return cls(Table(CELL_LINES), 0, 0)
        node, spent, exact = stretches.node, stretches.spent_ns, stretches.spent_ns * stretches.exact
        known = node >= 0
        known[known] = lines.source_file[node[known]] >= 0
        node, spent, exact = node[known], spent[known], exact[known]
        places = np.stack((lines.source_file[node], lines.line[node]), axis=1)
        distinct, group = np.unique(places, axis=0, return_inverse=True)
        group = group.reshape(-1)
        by_line = np.bincount(group, weights=spent, minlength=len(distinct))
        share = by_line / total_ns
        exact_share = np.bincount(group, weights=exact, minlength=len(distinct)) / total_ns
        leaf, leaf_ns = _heaviest(group, _leaves(trace, lines, node), spent, len(distinct))
        table = Table(
            CELL_LINES,
            {
                "source_file": distinct[:, 0],
                "line": distinct[:, 1],
                "cell_line": _heaviest(group, lines.cell_line[node], spent, len(distinct))[0],
                "duration_ns": by_line.astype(np.int64),
                "share": share,
                "error": stretches.error(share, exact_share, trace),
                "leaf": leaf,
                "leaf_share": leaf_ns / np.maximum(by_line, 1),
            },
        )
        return cls(table.take(np.argsort(-by_line, kind="stable")), total_ns, total_ns - int(by_line.sum()))


def _leaves(trace: Trace, lines: StackLines, node: Array) -> Array:
    """The first frame that the notebook's line called, by a row of `stack_nodes` that stands for its function."""
    parent, own = trace.stack_nodes["parent"], lines.row
    first: dict[tuple[int, int, int], int] = {}
    below = np.full(len(own), -1, np.int64)
    for at, above in enumerate(parent):
        if own[at] == at or above < 0:
            below[at] = at
        elif own[above] == above:
            function = (int(above), int(trace.stack_nodes["sampled_file"][at]), int(trace.stack_nodes["function"][at]))
            below[at] = first.setdefault(function, at)
        else:
            below[at] = below[above]
    return below[node]


def _heaviest(group: Array, value: Array, weight: Array, groups: int) -> tuple[Array, Array]:
    """For each group the value with the largest weight, and that weight."""
    pairs, inverse = np.unique(np.stack((group, value), axis=1), axis=0, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), weights=weight, minlength=len(pairs))
    order = np.argsort(sums, kind="stable")
    best, most = np.empty(groups, np.int64), np.empty(groups)
    best[pairs[order, 0]], most[pairs[order, 0]] = pairs[order, 1], sums[order]
    return best, most
