"""Loops whose iterations take longer and longer, and what in them grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.growing_parts import GrowingParts, growing_parts, sampled_growth
from gpuprof.analyses.loops.iteration_run import IterationRun
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.loops.trend import Trend, by_number, numbered, trend
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class GrowingLoop:
    """A loop of `iterations`, of which each takes longer than the one before, by `trend` in ns.

    `how`: from what its iterations are known, as in IterationRun; `steps`; or `cell`, all iterations of the cell, by
    light hooks. `excess_ns`: what they take in all beyond as many as long as the early ones, of `total_ns` in all of
    them. `within`: the time of the iterations in the recording. `parts`: what grows in them. `line` of `file`: the
    loop's own.
    """

    how: str
    iterations: int
    trend: Trend
    excess_ns: int
    total_ns: int
    within: Intervals
    parts: GrowingParts
    line: int | None = None
    file: str = ""


@dataclass(frozen=True, eq=False)
class Growth(Result):
    """`loops` whose iterations grow, the one with the largest excess first."""

    loops: tuple[GrowingLoop, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the iterations or steps of the recording, and from those of the whole cell."""
        runs = [*results.get(Iterations).runs, *_steps(trace)]
        found = [_grown(trace, results, run) for run in runs] + [_of_cell(trace, results)]
        loops = [each for each in found if each is not None]
        return cls(tuple(sorted(loops, key=lambda each: -each.excess_ns)))


def _steps(trace: Trace) -> list[IterationRun]:
    steps = trace.steps
    return [IterationRun("steps", steps["start_ns"], steps["start_ns"] + steps["duration_ns"])] if len(steps) else []


def _grown(trace: Trace, results: Results, run: IterationRun) -> GrowingLoop | None:
    number = np.arange(run.count)
    found = trend(run.durations_ns)
    if found is None or not found.grows:
        number = numbered(run.durations_ns)
        found = trend(by_number(run.durations_ns, number))
    if found is None or not found.grows:
        return None
    return GrowingLoop(
        how=run.how,
        iterations=run.count,
        trend=found,
        excess_ns=_excess_ns(run.durations_ns, found),
        total_ns=run.total_ns,
        within=intervals.union(Intervals(run.starts_ns, run.ends_ns)),
        parts=growing_parts(trace, results, run, *_ends(number, found)),
        line=run.line,
        file=run.file,
    )


def _ends(number: Array, found: Trend) -> tuple[Array, Array]:
    """The early and the late iterations, as masks of as many each as a trend compares."""
    # `first` and `last` are the middles of what is compared, and the last one ends the series
    end = int(number.max()) + 1
    width = max(2 * (end - found.last) + 1, 3)
    early = np.abs(number + 1 - found.first) <= width // 2
    late = np.abs(number + 1 - found.last) <= width // 2
    return early, late


def _of_cell(trace: Trace, results: Results) -> GrowingLoop | None:
    """Iterations of the cell without the recording, where there are enough."""
    rows = trace.iterations
    plain = rows.take(rows["plain"]) if len(rows) else rows
    if not len(plain):
        return None
    durations = plain["duration_ns"]
    found = trend(durations)
    if found is None or not found.grows:
        return None
    within = intervals.single(trace.span_start_ns, trace.span_end_ns) if trace.span_ns else intervals.EMPTY
    excess, total = _excess_ns(durations, found), int(durations.sum())
    lines, callers = sampled_growth(trace, plain["start_ns"], durations)
    parts = GrowingParts(
        lines=lines, callers=callers, backward_share=_in_backward(results, plain["start_ns"], durations)
    )
    return GrowingLoop("cell", len(plain), found, excess, total, within, parts)


def _in_backward(results: Results, starts_ns: Array, durations_ns: Array) -> float | None:
    """Of what the last third of the iterations take beyond the first third, the part in backward passes, by samples."""
    stretches, third = results.get(Stretches), len(starts_ns) // 3
    middle = stretches.start_ns + stretches.duration_ns // 2
    at = np.searchsorted(starts_ns, middle, side="right") - 1
    backward = results.get(SamplePhases).phase == PHASES.index(Phase.BACKWARD)
    mine = backward & (at >= 0) & (middle < (starts_ns + durations_ns)[at]) if len(at) else backward
    spent = np.bincount(at[mine], stretches.duration_ns[mine], len(starts_ns))
    grown = durations_ns[-third:].sum() - durations_ns[:third].sum()
    return float((spent[-third:].sum() - spent[:third].sum()) / grown) if len(at) and grown > 0 else None


def _excess_ns(durations: Array, found: Trend) -> int:
    return int(np.maximum(durations - found.early, 0).sum())
