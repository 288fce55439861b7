"""Backward passes that fill gradients of weights which no optimizer updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

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

    `passes`: how many; `filled`: how many gradients one fills (median), `trained`: how many weights all optimizers
    have that stepped in the run; both None where unknown. `beyond`: in passes that fill more, the union of host time,
    on autograd's thread, from the last gradient that could be an optimizer's to the end of the pass: gradients come in
    the order from the loss back to the input, and what is trained alone is mostly the part nearest to the loss.
    `distributed`: operators of torch.distributed ran, and an optimizer may hold a part of the weights only (ZeRO).
    """

    passes: int
    filled: float | None
    trained: int | None
    beyond: Intervals
    distributed: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From autograd's nodes and the optimizers that capture saw."""
        trained = sum(each.parameters for each in trace.context.optimizers) or None
        operators, nodes = trace.operators, backward_mask(trace)
        distributed = bool(trace.name_mask(operators, *_DISTRIBUTED).any())
        begins, ends = _passes(trace, nodes)
        steady = results.get(StepTime).steady
        within = intervals.union(intervals.of(trace.steps.take(steady)))
        filling = operators.take(np.flatnonzero(trace.name_mask(operators, _ACCUMULATE)))
        done = np.sort(filling["start_ns"] + filling["duration_ns"])
        chosen = np.flatnonzero(intervals.contains(within, begins))
        first, last = np.searchsorted(done, begins[chosen]), np.searchsorted(done, ends[chosen], side="right")
        if not len(chosen) or trained is None:
            filled = float(np.median(last - first)) if len(chosen) else None
            return cls(len(chosen), filled, trained, intervals.EMPTY, distributed)
        more = last - first > trained
        since = done[np.minimum(first[more] + trained - 1, max(len(done) - 1, 0))]
        beyond = intervals.union(Intervals(since, ends[chosen][more]))
        return cls(len(chosen), float(np.median(last - first)), trained, beyond, distributed)


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
