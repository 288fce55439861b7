"""What a loop over slices takes: its own time, what `backward()` does for it, and how much of both is operators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask, matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.python_loops import Loop, PythonLoops, Repetition
from gpuprof.analyses.training.backward_work import backward_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# What each slice makes of its gradient: zeros for the whole tensor, which are added up.
_WHOLE_FOR_A_SLICE = re.compile(r"(autograd::engine::evaluate_function: )?(Select|Slice|Unbind|Narrow)Backward\d*$")


_MOST_LOOPS = 10


@dataclass(frozen=True, eq=False)
class LoopCost:
    """Unions of host time: `forward`, all runs of the loop, and what lies in `outer` ones that were given; `backward`,
    what autograd does for them, outside the runs; `inside`, what of both lies in the steps. `each_ns`: what each of the
    outermost operators takes that begin inside, gradients of slices apart."""

    loop: Loop
    forward: Intervals
    backward: Intervals
    inside: Intervals
    each_ns: Array

    @classmethod
    def of(cls, trace: Trace, loop: Loop, within: Intervals, outer: Sequence[Repetition] = ()) -> Self:
        """`within`: the union of the steps; `outer`: runs of the loop around it that count as well."""
        starts, ends = ([getattr(run, name) for run in (*loop.runs, *outer)] for name in ("start_ns", "end_ns"))
        forward = intervals.union(Intervals(np.array(starts, np.int64), np.array(ends, np.int64)))
        backward = intervals.subtract(backward_of(trace, forward), forward)
        inside = intervals.intersect(intervals.joined(forward, backward), within)
        return cls(loop, forward, backward, inside, _operators(trace, inside))

    def operators_ns(self, beyond_ns: int = 0) -> int:
        """Time of these operators, of each what is `beyond_ns`."""
        return int(np.maximum(self.each_ns - beyond_ns, 0).sum())


def _operators(trace: Trace, inside: Intervals) -> Array:
    operators = trace.operators
    nodes, slices = backward_mask(trace), matching(trace, operators, _WHOLE_FOR_A_SLICE)
    parents = operators["parent"]
    outermost = (parents < 0) | (nodes & ~nodes[np.maximum(parents, 0)]) if len(operators) else nodes
    chosen: Array = outermost & ~slices & intervals.contains(inside, operators["start_ns"])
    return operators["duration_ns"][chosen]


@dataclass(frozen=True)
class LoopCosts(Result):
    """Of the loops over slices, in the order of PythonLoops, ten at most; empty where no steps are known."""

    costs: tuple[LoopCost, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the runs of each loop and the sequence numbers of autograd."""
        steps = results.get(StepTime)
        if not steps.count:
            return cls(())
        chosen = [loop for loop in results.get(PythonLoops).loops if loop.slices][:_MOST_LOOPS]
        return cls(tuple(LoopCost.of(trace, loop, steps.window) for loop in chosen))


def cost_within(results: Results, loop: Loop, outer: Sequence[Repetition]) -> LoopCost:
    """What the loop takes in the steps, together with these runs of the loop around it."""
    return LoopCost.of(results.trace, loop, results.get(StepTime).window, outer)
