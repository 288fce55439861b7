"""Where torch.compile compiled, and how many compiled pieces a step runs through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask, matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# the outermost of dynamo's own ranges: `_compile.<locals>.compile_inner (dynamo_timed)` in torch 2.4,
# `_compile.compile_inner (dynamo_timed)` later, `entire_backward_compile` for backward graphs made late
_COMPILE = re.compile(r"(_compile\..*compile_inner|entire_backward_compile) \(dynamo_timed\)$")
_REGION = re.compile(r"Torch-Compiled Region: (\d+)/(\d+)")
_WARM_UP_STEPS = 2


@dataclass(frozen=True, eq=False)
class CompileEvents(Result):
    """Compiling while the run goes on (torch.compile marks it in every profile).

    `everywhere`: the union of all of it on the main thread, and on autograd's for which that one stands still;
    `everywhere_ns`: that of all threads. The rest is over the steps after the first two: `steps` how many,
    `within` their union, `compiles` the union of compiling in them, `count` how often, `steps_with` in how many steps.
    `pieces_per_step`: the median number of different compiled pieces that a step entered, of those that entered any;
    None where none did. `variants`: the largest number of versions of one piece seen (a recompiled one has several).
    """

    everywhere: Intervals
    everywhere_ns: int
    steps: int
    within: Intervals
    compiles: Intervals
    count: int
    steps_with: int
    pieces_per_step: float | None
    variants: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From dynamo's ranges, which are operators or user ranges by version."""
        events = [
            _columns(table.take(matching(trace, table, _COMPILE))) for table in (trace.operators, trace.user_ranges)
        ]
        starts, lengths, step, thread = (np.concatenate(columns) for columns in zip(*events, strict=True))
        steady = trace.steps.take(np.arange(len(trace.steps)) >= _WARM_UP_STEPS)
        within = intervals.union(intervals.of(steady))
        everywhere = intervals.union(Intervals(starts, starts + lengths))
        mine = np.isin(thread, [trace.main_thread, *np.unique(trace.operators["thread"][backward_mask(trace)])])
        late = step >= _WARM_UP_STEPS
        pieces, variants = _regions(trace)
        return cls(
            everywhere=intervals.union(Intervals(starts[mine], (starts + lengths)[mine])),
            everywhere_ns=everywhere.total_ns,
            steps=len(steady),
            within=within,
            compiles=intervals.intersect(everywhere, within),
            count=int(late.sum()),
            steps_with=len(np.unique(step[late])),
            pieces_per_step=pieces,
            variants=variants,
        )


def _columns(table: Table) -> tuple[Array, Array, Array, Array]:
    return table["start_ns"], table["duration_ns"], table["step"], table["thread"]


def _regions(trace: Trace) -> tuple[float | None, int]:
    found: dict[int, set[int]] = {}
    versions: dict[int, set[int]] = {}
    for table in (trace.operators, trace.user_ranges):
        rows = table.take(matching(trace, table, _REGION))
        for name, step in zip(trace.names_of(rows).tolist(), rows["step"].tolist(), strict=True):
            match = _REGION.match(name)
            if match:
                piece, version = int(match[1]), int(match[2])
                versions.setdefault(piece, set()).add(version)
                found.setdefault(step, set()).add(piece)
    counts = [len(pieces) for step, pieces in found.items() if step >= 0]
    return float(np.median(counts)) if counts else None, max(map(len, versions.values()), default=0)
