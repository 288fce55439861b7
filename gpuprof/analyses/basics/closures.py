"""What runs inside `Optimizer.step` and is not the optimizer's: the closure that a step is given.

Lightning and skorch give every step one, LBFGS needs it: the whole training step then lies in the optimizer's range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.graph_joins import at_top, makers
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.recording import CLOSURE
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_STEP, _ZERO_GRAD = "Optimizer.step#", "Optimizer.zero_grad#"


@dataclass(frozen=True, eq=False)
class Closures(Result):
    """Unions of host time on the main thread, inside `Optimizer.step#` ranges.

    `ran`: closures. Where gpuprof recorded, each is marked. Elsewhere one is what lies from an operator whose node runs
    in the same range to the end of that node. `untold`: ranges with a backward pass that cannot be joined to its
    forward pass, or with `zero_grad` and no backward pass; the whole range then counts as the closure's.
    """

    ran: Intervals
    untold: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the marks, else from the sequence numbers of autograd."""
        spans = trace.user_ranges
        on_main = spans["thread"] == trace.main_thread
        steps = intervals.union(intervals.of(spans.take(on_main & trace.name_mask(spans, _STEP))))
        if not len(steps.starts):
            return cls(intervals.EMPTY, intervals.EMPTY)
        marks = intervals.union(intervals.of(spans.take(on_main & trace.name_mask(spans, CLOSURE))))
        marks = intervals.intersect(marks, steps)
        marked = intervals.covered(marks, steps.starts, steps.ends) > 0
        rest = Intervals(steps.starts[~marked], steps.ends[~marked])
        passes, untold = _passes(trace, rest)
        return cls(intervals.joined(marks, passes, untold), untold)


def _passes(trace: Trace, steps: Intervals) -> tuple[Intervals, Intervals]:
    """Forward and backward passes inside these ranges, and the ranges whose backward pass has no known beginning."""
    operators, nodes = trace.operators, backward_mask(trace)
    inside = np.flatnonzero(nodes & intervals.contains(steps, operators["start_ns"]))
    zeroing = trace.user_ranges["start_ns"][trace.name_mask(trace.user_ranges, _ZERO_GRAD)]
    zeroing = zeroing[intervals.contains(steps, zeroing)]
    if not len(inside) and not len(zeroing):
        return intervals.EMPTY, intervals.EMPTY
    maker, starts = makers(trace)[inside], operators["start_ns"][inside]
    joined, place = maker >= 0, _place(steps, starts)
    begins = starts.copy()
    begins[joined] = operators["start_ns"][at_top(trace, maker[joined])]
    begins = np.where(_place(steps, begins) == place, begins, starts)  # the forward pass may lie before the step
    ends = np.minimum(starts + operators["duration_ns"][inside], steps.ends[place])
    lost = np.setdiff1d(np.concatenate((place, _place(steps, zeroing))), place[joined])
    return intervals.union(Intervals(begins, ends)), Intervals(steps.starts[lost], steps.ends[lost])


def _place(steps: Intervals, times: Array) -> Array:
    return np.searchsorted(steps.starts, times, side="right") - 1
