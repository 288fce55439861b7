"""Biases of convolutions that a batch norm takes away again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins, KernelPhase
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_CONVOLUTION = "aten::_convolution"
_ADD = "aten::add_"
_NORMS = ("aten::batch_norm", "aten::instance_norm", "aten::batch_norm_stats", "aten::cudnn_batch_norm")
# batch norm counts its batches (`add_`) and autocast may cast before it starts
_BETWEEN = ("aten::add_", "aten::to", "aten::contiguous", "aten::empty", "aten::detach")
_MOST_BETWEEN = 3


@dataclass(frozen=True, eq=False)
class ConvolutionBiases(Result):
    """Convolutions on a GPU that add a bias with an operator of its own and are followed by a batch norm at once.

    `count`: how many times one ran. `adding`: boolean mask over KernelOrigins, the kernels that add such a bias;
    `gradient`: those that sum up its gradient.
    """

    count: int
    adding: Array
    gradient: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order and nesting of operators on the main thread."""
        kernels, operators = results.get(KernelOrigins), trace.operators
        adds, roots = _biases(trace)
        known = kernels.operator >= 0
        numbers = operators["sequence"][roots]
        gradient = known & (kernels.phase == KernelPhase.BACKWARD) & (kernels.category == KernelCategory.REDUCTION)
        gradient[known] &= np.isin(operators["sequence"][kernels.root[known]], numbers[numbers >= 0])
        return cls(len(adds), known & np.isin(kernels.operator, adds), gradient)


def _biases(trace: Trace) -> tuple[Array, Array]:
    """Rows of the operators that add such a bias, and for each the outermost convolution operator around it."""
    operators, parents = trace.operators, trace.operators["parent"]
    on_main = operators["thread"] == trace.main_thread
    under = np.zeros(len(operators), bool)
    inner = parents >= 0
    under[inner] = _named(trace, (_CONVOLUTION,))[parents[inner]]
    adds = np.flatnonzero(on_main & under & _named(trace, (_ADD,)))
    if not len(adds):
        return adds, adds
    convolution = np.fromiter(("conv" in name for name in trace.names), bool, len(trace.names))[operators["name"]]
    norm, between = _named(trace, _NORMS), _named(trace, _BETWEEN)
    main = np.flatnonzero(on_main)
    siblings = main[np.argsort(parents[main], kind="stable")]
    place = np.full(len(operators), -1)
    place[siblings] = np.arange(len(siblings))
    kept, roots = [], []
    for add in adds.tolist():
        root = add
        while parents[root] >= 0 and convolution[parents[root]]:
            root = int(parents[root])
        after = siblings[place[root] + 1 : place[root] + 2 + _MOST_BETWEEN]
        after = after[parents[after] == parents[root]]
        first = after[~between[after]][:1]
        if len(first) and norm[first[0]]:
            kept.append(add)
            roots.append(root)
    return np.array(kept, np.int64), np.array(roots, np.int64)


def _named(trace: Trace, names: tuple[str, ...]) -> Array:
    hit = np.fromiter((name in names for name in trace.names), bool, len(trace.names))
    mask: Array = hit[trace.operators["name"]] if len(trace.operators) else np.zeros(0, bool)
    return mask
