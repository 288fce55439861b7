"""Backward passes that fill gradients of weights which no optimizer updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_ACCUMULATE = "torch::autograd::AccumulateGrad"
_DISTRIBUTED = ("c10d::", "nccl:", "gloo:")


@dataclass(frozen=True, eq=False)
class UnusedGradients(Result):
    """The backward passes inside the steady steps (see StepTime).

    `passes`: how many; `filled`: how many gradients one fills (median), `trained`: how many weights the optimizers have
    that still step after it; both None where unknown. An optimizer that has made its last step (of a teacher, before
    its student learns) uses no gradient any more. Where passes differ in that, those alike that fill most beyond what
    is trained. `beyond`: in passes that fill more, the union of host time,
    on autograd's thread, from the last gradient that could be an optimizer's to the end of the pass: gradients come in
    the order from the loss back to the input, and what is trained alone is mostly the part nearest to the loss. Where
    an optimizer has ended (`ended`), whose gradients may come first as well: from the beginning to the last that could
    be its own, if that is less. `most_ns`: the more of both. `steps_ns`: of the steady steps that these passes run in,
    and `cell_share`: the part of the cell, 0..1, from the last step of an optimizer that has ended to that of one that
    still steps; None where none has ended, or that is not known.
    `distributed`: operators of torch.distributed ran, and an optimizer may hold a part of the weights only (ZeRO).
    """

    passes: int
    filled: float | None
    trained: int | None
    beyond: Intervals
    distributed: bool
    ended: bool
    most_ns: int
    steps_ns: int = 0
    cell_share: float | None = None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From autograd's nodes and the optimizers that capture saw."""
        operators, nodes = trace.operators, backward_mask(trace)
        distributed = bool(trace.name_mask(operators, *_DISTRIBUTED).any())
        begins, ends = _passes(trace, nodes)
        steady = results.get(StepTime).steady
        within = intervals.union(intervals.of(trace.steps.take(steady)))
        filling = operators.take(np.flatnonzero(trace.name_mask(operators, _ACCUMULATE)))
        done = np.sort(filling["start_ns"] + filling["duration_ns"])
        chosen = intervals.contains(within, begins)
        begins, ends = begins[chosen], ends[chosen]
        first, last = np.searchsorted(done, begins), np.searchsorted(done, ends, side="right")
        every = sum(each.parameters for each in trace.context.optimizers) or None
        if not len(begins) or every is None:
            filled = float(np.median(last - first)) if len(begins) else None
            return cls(len(begins), filled, every, intervals.EMPTY, distributed, False, 0)
        found = []
        trained = _trained(trace, begins)
        for number in np.unique(trained).tolist():
            mine = trained == number
            passes = _Passes(begins[mine], ends[mine], first[mine], last[mine])
            ends_of_pass = passes.beyond(done, number)
            found.append((passes, number, ends_of_pass if number < every else ends_of_pass[:1]))
        passes, number, parts = max(found, key=lambda each: (min(p.total_ns for p in each[2]), len(each[0].begins)))
        beyond = min(parts, key=lambda each: each.total_ns)
        filled, most_ns = float(np.median(passes.filled)), max(each.total_ns for each in parts)
        steps = intervals.of(trace.steps.take(steady))
        at = np.unique(np.searchsorted(steps.starts, passes.begins, side="right") - 1)
        steps_ns = int((steps.ends - steps.starts)[at[at >= 0]].sum())
        cell_share = _cell_share(trace) if number < every else None
        return cls(
            len(passes.begins), filled, number, beyond, distributed, number < every, most_ns, steps_ns, cell_share
        )


class _Passes(NamedTuple):
    """Backward passes, arrays of shape `(count,)`: when each begins and ends, and the places of its first gradient and
    of the one behind its last."""

    begins: Array
    ends: Array
    first: Array
    last: Array

    @property
    def filled(self) -> Array:
        """How many gradients each fills."""
        return self.last - self.first

    def beyond(self, done: Array, trained: int) -> tuple[Intervals, Intervals]:
        """Where they fill more than are `trained`, if what is trained comes first in each, and if it comes last.
        `done`: when each gradient was filled."""
        more = self.filled > trained
        begins, ends, first, last = (each[more] for each in self)
        most = max(len(done) - 1, 0)
        late = Intervals(done[np.minimum(first + max(trained, 1) - 1, most)], ends)
        early = Intervals(begins, done[np.minimum(last - trained - 1, most)])
        return intervals.union(late), intervals.union(early)


def _trained(trace: Trace, begins: Array) -> Array:
    """For each pass the number of weights of the optimizers that have not made their last step before it."""
    ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
    number = np.zeros(len(begins), np.int64)
    for each in trace.context.optimizers:
        still = True if each.last_step_ns is None else begins <= each.last_step_ns + ahead_ns
        number += np.where(still, each.parameters, 0)
    return number


def _cell_share(trace: Trace) -> float | None:
    """Of the cell, that in which the optimizers step which step last, when others have ended."""
    window, steps = trace.context.window, [each.last_step_ns for each in trace.context.optimizers]
    known = [each for each in steps if each is not None]
    if window is None or window.cell_end_ns <= window.cell_start_ns or len(known) < len(steps) or not known:
        return None
    before = max((each for each in known if each < max(known)), default=None)
    return None if before is None else (max(known) - before) / (window.cell_end_ns - window.cell_start_ns)


def _passes(trace: Trace, nodes: Array) -> tuple[Array, Array]:
    """When each backward pass begins and ends: within one the numbers of the nodes fall, a new forward pass makes
    higher ones."""
    operators = trace.operators
    rows = np.flatnonzero(nodes & (operators["sequence"] >= 0))
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    highest = np.maximum.accumulate(operators["sequence"][rows])
    new = np.flatnonzero(np.append(True, highest[1:] > highest[:-1]))
    begins = operators["start_ns"][rows][new]
    every = intervals.of(operators.take(nodes))
    ends = np.zeros(len(begins), np.int64)
    place = np.searchsorted(begins, every.starts, side="right") - 1
    np.maximum.at(ends, np.maximum(place, 0), every.ends)
    return begins, ends
