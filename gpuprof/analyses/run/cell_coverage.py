"""How much of the whole cell is like what was recorded of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.iterations import loop_of
from gpuprof.analyses.loops.line_iterations import stack_path
from gpuprof.analyses.loops.written_loops import WrittenLoop
from gpuprof.model import intervals
from gpuprof.model.context import Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# an iteration that much longer than the median one holds something else as well: an evaluation, a checkpoint
_UNLIKE = 3.0


@dataclass(frozen=True)
class CellCoverage(Result):
    """Shares of the cell's time, 0..1; both 1 for a trace that knows of no cell.

    `recorded`: the recording itself. `alike`: that, and the iterations outside it that took no more than three times
    the median of all: what holds in the recorded steps is taken to hold in them. Where no steps are known, it is the
    time outside that sampled stacks show in the loop of the recorded iterations.
    """

    recorded: float
    alike: float

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the window and the iterations of the whole cell."""
        window, rows = trace.context.window, trace.iterations
        cell_ns = window.cell_end_ns - window.cell_start_ns if window else 0
        if window is None or cell_ns <= 0 or window.end_ns <= window.start_ns:
            return cls(1.0, 1.0)
        recorded_ns = window.end_ns - window.start_ns
        lengths = rows["duration_ns"]
        outside = (rows["start_ns"] >= window.end_ns) | (rows["start_ns"] + lengths <= window.start_ns)
        alike_ns = 0
        if len(rows):
            alike_ns = int(lengths[outside & (lengths <= _UNLIKE * np.median(lengths))].sum())
        elif (loop := loop_of(results)) is not None:
            alike_ns = _sampled_ns(trace, loop, window)
        return cls(min(recorded_ns / cell_ns, 1.0), min((recorded_ns + alike_ns) / cell_ns, 1.0))


def _sampled_ns(trace: Trace, loop: WrittenLoop, window: Window) -> int:
    """How long the stack stood in that loop before and after the recording."""
    samples = trace.stack_samples
    starts, lasted = samples["start_ns"], samples["duration_ns"]
    recorded = intervals.covered(intervals.single(window.start_ns, window.end_ns), starts, starts + lasted)
    return int((lasted - recorded)[_in_loop(trace, loop, samples["node"])].sum())


def _in_loop(trace: Trace, loop: WrittenLoop, node: Array) -> Array:
    nodes = np.unique(node).tolist()
    inside = [each for each in nodes if any(loop.holds(*place) for place in stack_path(trace, each))]
    return np.isin(node, inside)


def like_recorded(trace: Trace, results: Results, stretches: Stretches) -> Array:
    """Of each stretch, ns that were recorded or are like what was, as `CellCoverage.alike` has it."""
    window, rows = trace.context.window, trace.iterations
    if window is None:
        return stretches.duration_ns
    parts = [Intervals(np.array([window.start_ns]), np.array([window.end_ns]))]
    if len(rows):
        lengths = rows["duration_ns"]
        alike = rows.take(lengths <= _UNLIKE * np.median(lengths))
        parts.append(intervals.of(alike))
    known = intervals.joined(*parts)
    covered = intervals.covered(known, stretches.start_ns, stretches.start_ns + stretches.duration_ns)
    if not len(rows) and (loop := loop_of(results)) is not None:
        covered = np.where(_in_loop(trace, loop, stretches.node), stretches.duration_ns, covered)
    found: Array = covered
    return found
