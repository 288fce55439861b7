"""Gradients that `zero_grad` fills with zeros, so that backward has to add to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import OPTIMIZER
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model import intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_ZERO = ("aten::zero_", "aten::_foreach_zero_")
_ADD = ("aten::add_", "aten::add")
_ACCUMULATE = "torch::autograd::AccumulateGrad"


@dataclass(frozen=True, eq=False)
class GradientZeroing(Result):
    """What `zero_grad(set_to_none=False)` costs, where any gradient was zeroed in an optimizer's `zero_grad`.

    `zero_grads`: such ranges; `zeroed`: operators that zero in them (one a tensor, or one for many); `added`: times
    that backward added to a gradient. With gradients set to None the first addition of each is a plain assignment:
    `avoidable_share` of the additions, 0..1 (1 where each backward pass has its own `zero_grad`; 0 where the number
    of tensors is unknown). `host_start_ns`, `host_duration_ns`: the additions and then the ranges, on the host.
    `zeroing`, `adding`: boolean masks over KernelOrigins. All empty or 0 where nothing was zeroed.
    """

    zero_grads: int
    zeroed: int
    added: int
    avoidable_share: float
    host_start_ns: Array
    host_duration_ns: Array
    zeroing: Array
    adding: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the optimizers' ranges, and from autograd's nodes that accumulate."""
        operators, kernels = trace.operators, results.get(KernelOrigins)
        ranges = _ranges(trace)
        inside = intervals.contains(intervals.union(intervals.of(ranges)), operators["start_ns"])
        inside &= (operators["thread"] == trace.main_thread) & (operators["parent"] < 0)
        zeros = np.flatnonzero(inside & _named(trace, operators, _ZERO))
        if not len(zeros):
            empty, nothing = np.zeros(0, np.int64), np.zeros(kernels.count, bool)
            return cls(0, 0, 0, 0.0, empty, empty, nothing, nothing)
        parents = operators["parent"]
        under = (parents >= 0) & _named(trace, operators, (_ACCUMULATE,))[np.maximum(parents, 0)]
        adds = np.flatnonzero(under & _named(trace, operators, _ADD))
        tensors = _tensors(trace, operators.take(zeros), len(ranges))
        host = np.concatenate((operators["start_ns"][adds], ranges["start_ns"]))
        known = kernels.operator >= 0
        return cls(
            zero_grads=len(ranges),
            zeroed=len(zeros),
            added=len(adds),
            avoidable_share=min(1.0, tensors / len(adds)) if len(adds) else 0.0,
            host_start_ns=host,
            host_duration_ns=np.concatenate((operators["duration_ns"][adds], ranges["duration_ns"])),
            zeroing=known & np.isin(kernels.root, zeros),
            adding=known & kernels.in_gradient & np.isin(kernels.operator, adds),
        )


def _ranges(trace: Trace) -> Table:
    chosen = trace.name_mask(trace.user_ranges, f"{OPTIMIZER}zero_grad#") & (
        trace.user_ranges["thread"] == trace.main_thread
    )
    return trace.user_ranges.take(chosen)


def _tensors(trace: Trace, zeros: Table, ranges: int) -> int:
    """Gradients zeroed in all; 0 where one operator zeroes many and nobody knows how many."""
    single = int(_named(trace, zeros, _ZERO[:1]).sum())
    if single == len(zeros):
        return single
    return ranges * sum(optimizer.parameters for optimizer in trace.context.optimizers)


def _named(trace: Trace, table: Table, names: tuple[str, ...]) -> Array:
    hit = np.fromiter((name in names for name in trace.names), bool, len(trace.names))
    mask: Array = hit[table["name"]] if len(table) else np.zeros(0, bool)
    return mask
