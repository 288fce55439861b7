"""Attention written out as product, softmax, product, instead of one fused kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins, KernelPhase
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_PRODUCTS = ("aten::bmm", "aten::baddbmm")
_SOFTMAX = ("aten::_softmax", "aten::_masked_softmax")
# what never stands between the two products of one attention
_BREAKS = (
    "aten::mm",
    "aten::addmm",
    "aten::convolution",
    "aten::embedding",
    "aten::_log_softmax",
    "aten::_flash_attention_forward",
    "aten::_efficient_attention_forward",
)
_FALLBACK = "aten::_scaled_dot_product_attention_math"


@dataclass(frozen=True)
class AttentionBlock:
    """One attention on the host, from the first product's begin to the second one's end. `scores`: shape of what the
    softmax reads and `scores_bytes` its size, None without shapes. `fallback`: torch's own
    `scaled_dot_product_attention` took this way, because no fused kernel took the inputs."""

    start_ns: int
    end_ns: int
    scores: tuple[int, ...] | None
    scores_bytes: int | None
    fallback: bool


@dataclass(frozen=True, eq=False)
class AttentionBlocks(Result):
    """`blocks` in order of start. `chosen`: boolean mask over KernelOrigins, the kernels launched in a block and those
    of its gradient (by autograd's sequence numbers); `products` those of them that are matrix products."""

    blocks: tuple[AttentionBlock, ...]
    chosen: Array
    products: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of operators on the main thread."""
        kernels, operators = results.get(KernelOrigins), trace.operators
        blocks = _blocks(trace)
        if not blocks:
            nothing = np.zeros(kernels.count, bool)
            return cls((), nothing, nothing)
        whole = intervals.union(
            Intervals(np.array([b.start_ns for b in blocks], np.int64), np.array([b.end_ns for b in blocks], np.int64))
        )
        inside = intervals.contains(whole, operators["start_ns"]) & (operators["thread"] == trace.main_thread)
        numbers = np.unique(operators["sequence"][inside])
        root, known = kernels.root, kernels.operator >= 0
        forward = known & inside[kernels.operator]
        gradient = (kernels.phase == KernelPhase.BACKWARD) & known
        gradient &= np.isin(operators["sequence"][root], numbers[numbers >= 0])
        chosen = forward | gradient
        return cls(blocks, chosen, chosen & (kernels.category == KernelCategory.GEMM))


def _blocks(trace: Trace) -> tuple[AttentionBlock, ...]:
    operators = trace.operators
    kinds = np.zeros(len(trace.names), np.uint8)
    for number, names in enumerate((_PRODUCTS, _SOFTMAX, _BREAKS), 1):
        kinds[np.fromiter((name in names for name in trace.names), bool, len(trace.names))] = number
    kind = kinds[operators["name"]]
    rows = np.flatnonzero((kind > 0) & (operators["thread"] == trace.main_thread))
    order = kind[rows]
    middle = np.flatnonzero((order[1:-1] == 2) & (order[:-2] == 1) & (order[2:] == 1)) + 1
    found = (_block(trace, int(rows[at - 1]), int(rows[at]), int(rows[at + 1])) for at in middle)
    return tuple(block for block in found if block is not None)


def _block(trace: Trace, first: int, softmax: int, second: int) -> AttentionBlock | None:
    """None where recorded shapes say that the scores do not go from the first product to the second."""
    operators = trace.operators
    scores, weights = inputs_of(trace, softmax), inputs_of(trace, second)
    left = inputs_of(trace, first)[-2:] if trace.names[operators["name"][first]] == _PRODUCTS[0] else ()
    made = left[0].elements // max(left[0].dims[-1], 1) * left[1].dims[-1] if _are_batches(left) else None
    if scores and made is not None and scores[0].elements != made:
        return None
    if scores and weights and _are_batches(weights[:2]) and scores[0].elements != weights[0].elements:
        return None
    size = scores[0].element_bytes if scores else None
    return AttentionBlock(
        start_ns=int(operators["start_ns"][first]),
        end_ns=int(operators["start_ns"][second] + operators["duration_ns"][second]),
        scores=scores[0].dims if scores else None,
        scores_bytes=scores[0].elements * size if scores and size else None,
        fallback=_is_within(trace, softmax, _FALLBACK),
    )


def _are_batches(inputs: tuple[object, ...]) -> bool:
    return len(inputs) == 2 and all(len(getattr(each, "dims", ())) == 3 for each in inputs)


def _is_within(trace: Trace, row: int, name: str) -> bool:
    while row >= 0:
        if trace.names[trace.operators["name"][row]] == name:
            return True
        row = int(trace.operators["parent"][row])
    return False
