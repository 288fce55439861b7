"""The order in which a chain with a sparse matrix is fastest, by how long its own products took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Self

from gpuprof.analyses.dataflow.chain_orders import Factor, Order, cheapest, product


@dataclass(frozen=True)
class SparseOrder:
    """`order`: the fastest one; `saved_share`: of the time of the chain's products, 0..1."""

    order: Order
    saved_share: float

    @classmethod
    def of(cls, factors: Sequence[Factor], ran: Order, lasted_ns: Sequence[int]) -> Self:
        """`lasted_ns`: of the products in the order in which they ran."""
        steps = _steps(factors, ran)[1]
        times = _Times(
            _rate([each for each in zip(steps, lasted_ns, strict=True) if _is_sparse(each[0])]),
            _rate([each for each in zip(steps, lasted_ns, strict=True) if not _is_sparse(each[0])]),
            frozenset((left.entries is not None, right.entries is not None) for left, right in steps),
        )
        order = cheapest(factors, times.of)
        before, after = (sum(times.of(*each) for each in _steps(factors, way)[1]) for way in (ran, order))
        return cls(order, max(1 - after / before, 0.0) if 0 < before < inf else 0.0)


def sparse_columns(factors: Sequence[Factor], order: Order) -> int:
    """How many columns the widest matrix has that is multiplied with a sparse one."""
    pairs = [each for each in _steps(factors, order)[1] if _is_sparse(each)]
    return max((right.columns if left.entries is not None else left.rows for left, right in pairs), default=0)


@dataclass(frozen=True)
class _Times:
    """How long products take, in ns: per effort of sparse ones and of others, with their backward passes. `kinds`: on
    which sides the sparse ones stood; torch does not multiply every layout from either side."""

    sparse_ns: float
    dense_ns: float
    kinds: frozenset[tuple[bool, bool]]

    def of(self, left: Factor, right: Factor) -> float:
        """Of the product of two factors."""
        kind = left.entries is not None, right.entries is not None
        if any(kind) and kind not in self.kinds:
            return inf
        # each gradient is a product as large as this one
        passes = 1 + left.grad + right.grad
        return passes * (self.sparse_ns if any(kind) else self.dense_ns) * _effort(left, right)


def _effort(left: Factor, right: Factor) -> float:
    """Of a sparse product its entries times columns, else as dense products are compared."""
    if left.entries is not None:
        return left.entries * (right.columns + left.entry_columns)
    if right.entries is not None:
        return right.entries * (left.rows + right.entry_columns)
    return product(left, right)[1].effort


def _rate(ran: Sequence[tuple[tuple[Factor, Factor], int]]) -> float:
    effort = sum(_effort(*pair) for pair, _ in ran)
    return sum(ns for _, ns in ran) / effort if effort else 0.0


def _is_sparse(pair: tuple[Factor, Factor]) -> bool:
    return any(each.entries is not None for each in pair)


def _steps(factors: Sequence[Factor], order: Order) -> tuple[Factor, list[tuple[Factor, Factor]]]:
    """What it gives, and both sides of each product, as they run."""
    if isinstance(order, int):
        return factors[order], []
    (left, before), (right, besides) = _steps(factors, order[0]), _steps(factors, order[1])
    return product(left, right)[0], [*before, *besides, (left, right)]
