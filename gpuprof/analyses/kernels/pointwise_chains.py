"""Elementwise kernels that follow each other, each of which reads what the one before it has just written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, shapes_of
from gpuprof.analyses.kernels.eager_attention import AttentionBlocks
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins, KernelPhase
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

LEAST_KERNELS = 3
_MOST_OPERATORS = 5


@dataclass(frozen=True, eq=False)
class PointwiseChains(Result):
    """Chains of at least LEAST_KERNELS elementwise kernels in a row on one stream, launched by operators of forward or
    backward. Small reductions such as a mean may stand between them (they are not counted). Where shapes are known,
    two that follow each other directly work on equally many elements, or on shapes that broadcast: others cannot share
    a kernel. Left out are kernels that a compiler made, the optimizer's, the adding up of gradients, and attention that
    is written out.

    `chosen`: boolean mask over KernelOrigins. `chain`: for each kernel the number of its chain, -1 for none.
    `longest`: boolean mask, the longest kernel of each chain; one fused kernel takes about as long. `operators`: the
    operators of the costliest sequence, in order.
    """

    chosen: Array
    chain: Array
    longest: Array
    operators: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many chains."""
        return int(self.chain.max(initial=-1)) + 1

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of kernels on each stream."""
        kernels = results.get(KernelOrigins)
        member = kernels.named(trace, _is_native)
        member &= np.isin(kernels.category, (KernelCategory.ELEMENTWISE, KernelCategory.COPY_LIKE))
        member &= (kernels.operator >= 0) & ~kernels.in_gradient & ~results.get(AttentionBlocks).chosen
        member &= (kernels.phase == KernelPhase.FORWARD) | (kernels.phase == KernelPhase.BACKWARD)
        bridge = kernels.named(trace, _is_small_reduction) & ~member
        chain = _chains(kernels, member, bridge, trace)
        chosen = chain >= 0
        return cls(chosen, chain, _longest(kernels, chain), _costliest(trace, kernels, chain))


def _is_native(name: str) -> bool:
    return "elementwise_kernel" in name and "triton" not in name


def _is_small_reduction(name: str) -> bool:
    return "reduce_kernel" in name


def _chains(kernels: KernelOrigins, member: Array, bridge: Array, trace: Trace) -> Array:
    """Number of each kernel's chain, in order of stream and start; -1 outside every chain."""
    order = np.lexsort((kernels.start_ns, kernels.stream))
    place = np.flatnonzero(~bridge[order])
    order = order[place]
    inside, stream, phase = member[order], kernels.stream[order], kernels.phase[order]
    goes_on = inside[1:] & inside[:-1] & (stream[1:] == stream[:-1]) & (phase[1:] == phase[:-1])
    direct = goes_on & (np.diff(place) == 1)
    goes_on[direct] = _fits(trace, kernels.operator[order[:-1][direct]], kernels.operator[order[1:][direct]])
    begins = inside & ~np.concatenate((np.zeros(min(len(order), 1), bool), goes_on))
    number = np.where(inside, np.cumsum(begins) - 1, -1)
    lengths = np.bincount(number[inside], minlength=int(begins.sum()))
    enough = lengths >= LEAST_KERNELS
    renumbered = np.where(enough, np.cumsum(enough) - 1, -1)
    chain = np.full(kernels.count, -1, np.int64)
    chain[order[inside]] = renumbered[number[inside]]
    return chain


def _fits(trace: Trace, before: Array, after: Array) -> Array:
    """Boolean mask: one kernel can run through the elements of both operators, or their shapes are not known."""
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    return np.array([_share_a_kernel(shapes_of(trace, one), shapes_of(trace, other)) for one, other in pairs], bool)


@lru_cache(maxsize=4096)
def _share_a_kernel(one: tuple[Shape, ...], other: tuple[Shape, ...]) -> bool:
    if not one or not other:
        return True
    if max(map(prod, one)) == max(map(prod, other)):
        return True
    try:
        np.broadcast_shapes(*one, *other)
    except ValueError:
        return False
    return True


def _longest(kernels: KernelOrigins, chain: Array) -> Array:
    rows = np.flatnonzero(chain >= 0)
    rows = rows[np.lexsort((-kernels.duration_ns[rows], chain[rows]))]
    first = np.concatenate((np.ones(min(len(rows), 1), bool), chain[rows][1:] != chain[rows][:-1]))
    longest = np.zeros(kernels.count, bool)
    longest[rows[first]] = True
    return longest


def _costliest(trace: Trace, kernels: KernelOrigins, chain: Array) -> tuple[str, ...]:
    rows = np.flatnonzero(chain >= 0)
    rows = rows[np.lexsort((kernels.start_ns[rows], chain[rows]))]
    names = trace.operators["name"][kernels.operator[rows]]
    edges = np.flatnonzero(np.diff(chain[rows])) + 1
    spent: Counter[tuple[int, ...]] = Counter()
    for part, duration in zip(np.split(names, edges), np.split(kernels.duration_ns[rows], edges), strict=True):
        spent[tuple(part.tolist())] += int(duration.sum())
    costliest = max(spent, key=lambda key: spent[key], default=())
    return tuple(trace.names[name] for name in costliest[:_MOST_OPERATORS])
