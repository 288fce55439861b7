"""The time of the profiled cell's statements that call something, with all that they call."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.sampled_calls import SampledCalls
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_LEAST_SHARE = 0.03
_Given = ast.Assign | ast.AnnAssign


@dataclass(frozen=True, eq=False)
class StatementTime:
    """The assignment in lines `first` to `last` of the profiled cell: `ns` of it, `share` of the cell, 0..1, `during`
    on the trace's clock. `called`: the bare names of the functions that it was seen to call itself."""

    first: int
    last: int
    ns: int
    share: float
    during: Intervals
    called: frozenset[str]


@dataclass(frozen=True)
class StatementTimes(Result):
    """`statements`: assignments of what a call gives, the longest first, of 3% of the cell at least."""

    statements: tuple[StatementTime, ...]
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the text and the sampled stacks."""
        stretches, cell = results.get(Stretches), trace.context.cell
        tree = parsed(cell.source) if cell is not None and stretches.total_ns else None
        if tree is None:
            return cls((), stretches.total_ns)
        reader = SampledCalls(trace, stretches)
        file = reader.sampled_as("")
        found = list[StatementTime]()
        for first, last in sorted({(each.lineno, each.end_lineno or each.lineno) for each in _calling(tree)}):
            time = reader.time(file, first, last)
            share = time.ns / stretches.total_ns
            if share >= _LEAST_SHARE:
                found.append(StatementTime(first, last, time.ns, share, time.during, frozenset(time.called)))
        return cls(tuple(sorted(found, key=lambda each: -each.ns)), stretches.total_ns)


def _calling(tree: ast.Module) -> list[_Given]:
    given = [node for node in ast.walk(tree) if isinstance(node, _Given) and node.value is not None]
    return [each for each in given if any(isinstance(node, ast.Call) for node in ast.walk(each.value or each))]
