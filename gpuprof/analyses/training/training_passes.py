"""Which part of a training step is training itself, and what is done beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.gc_pauses import CollectorPauses
from gpuprof.analyses.basics.graph_joins import at_top, makers
from gpuprof.analyses.basics.host_marks import autograd_threads, main_operators
from gpuprof.analyses.basics.phases import Phases, backward_mask, matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_ACCUMULATE = "torch::autograd::AccumulateGrad"
# what a model is made of: a pass without gradients (a teacher, a target network) runs them, metrics and copies do not
_OF_A_MODEL = re.compile(
    r"aten::(linear|addmm|mm|bmm|baddbmm|matmul|conv\w*|_convolution|\w+_norm|scaled_dot_product_attention|lstm|gru"
    r"|rnn_\w+|embedding|embedding_bag|(native_|feature_|alpha_|feature_alpha_)?dropout_?)$"
)


@dataclass(frozen=True, eq=False)
class TrainingPasses(Result):
    """The steady steps (see StepTime; the first is left out) of training, on the main host thread.

    `passes`: the union of the stretches from an operator whose gradient is needed to the end of its node in the
    backward pass, in the whole span: forward, loss and backward, with what Python does between. `within`: the union of
    those `steps`. `beside`: the union of what of them lies outside the passes, the optimizers' ranges, waits for
    batches, garbage collection, compiling, memory calls of the driver and passes without gradients (from the first to
    the last operator that models are made of): batches made by hand, metrics, logging, copies of the weights.
    `between`: the union of what lies in the passes outside every operator: Python, and code that torch does not see.
    `parameters`: how many gradients a step accumulates (median), about the number of tensors trained. `step_starts_ns`:
    when every step of the run began. Without a backward pass the rest is empty, `parameters` None; so it is where there
    is one that cannot be joined to its forward pass, which `unlinked` says.
    """

    passes: Intervals
    within: Intervals
    steps: int
    beside: Intervals
    between: Intervals
    parameters: float | None
    step_starts_ns: Array
    unlinked: bool = False

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sequence numbers that torch gives an operator and its node in the backward pass."""
        passes = _passes(trace)
        time = results.get(StepTime)
        steady = time.steady & (np.arange(time.count) > 0)
        if not len(passes.starts) or not steady.any():
            unlinked = not len(passes.starts) and bool(backward_mask(trace).any())
            none, starts_ns = intervals.EMPTY, trace.steps["start_ns"]
            return cls(none, none, 0, none, none, None, starts_ns, unlinked)
        within = intervals.union(intervals.of(trace.steps.take(steady)))
        at = results.get(Phases)
        rest = within
        for other in (
            at.optimizer,
            at.input,
            at.backward,
            autograd_threads(trace),
            results.get(CollectorPauses).pauses,
            results.get(CompileEvents).everywhere,
            results.get(AllocatorCalls).host,
        ):
            rest = intervals.subtract(rest, other)
        beside = intervals.subtract(rest, passes)
        beside = intervals.subtract(beside, _without_gradients(trace, beside))
        between = intervals.subtract(intervals.intersect(rest, passes), main_operators(trace))
        parameters = _parameters(trace, steady)
        return cls(passes, within, int(steady.sum()), beside, between, parameters, trace.steps["start_ns"])

    def steps_with(self, ranges: Intervals) -> int:
        """In how many of the steps the ranges begin."""
        inside = ranges.starts[intervals.contains(self.within, ranges.starts)]
        return len(np.unique(np.searchsorted(self.step_starts_ns, inside, side="right")))


def _passes(trace: Trace) -> Intervals:
    """On the stack of a node's maker the outermost counts: `aten::linear` around the product that needs a gradient."""
    operators, maker = trace.operators, makers(trace)
    run = np.flatnonzero(maker >= 0)
    run = run[operators["thread"][maker[run]] == trace.main_thread]
    node = operators.take(run)
    return intervals.union(
        Intervals(operators["start_ns"][at_top(trace, maker[run])], node["start_ns"] + node["duration_ns"])
    )


def _without_gradients(trace: Trace, beside: Intervals) -> Intervals:
    """In each piece of `beside` the stretch from the first to the last operator that models are made of."""
    operators = trace.operators
    chosen = matching(trace, operators, _OF_A_MODEL) & (operators["thread"] == trace.main_thread)
    rows = at_top(trace, np.flatnonzero(chosen))
    starts, ends = intervals.of(operators.take(rows))
    piece = np.searchsorted(beside.starts, starts, side="right") - 1
    inside = intervals.contains(beside, starts)
    if not inside.any():
        return intervals.EMPTY
    piece, starts, ends = piece[inside], starts[inside], ends[inside]
    count = len(beside.starts)
    first, last = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    np.minimum.at(first, piece, starts)
    np.maximum.at(last, piece, ends)
    return intervals.union(Intervals(first[last > 0], last[last > 0]))


def _parameters(trace: Trace, steady: Array) -> float | None:
    operators = trace.operators
    rows = operators.take(trace.name_mask(operators, _ACCUMULATE) & (operators["step"] >= 0))
    counts = np.bincount(rows["step"], minlength=len(steady))[steady]
    return float(np.median(counts)) if len(counts) else None
