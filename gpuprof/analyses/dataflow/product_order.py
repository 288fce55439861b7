"""Chains of matrix products that run in an order that takes more operations than another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.chain_orders import Factor, Order, Work, cheapest, work_of
from gpuprof.analyses.dataflow.operator_traits import named
from gpuprof.analyses.dataflow.product_chains import PRODUCTS, ProductChain, product_chains
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import operators_of
from gpuprof.analyses.demand.sparse_orders import SparseOrder
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class CostlyOrder:
    """All chains whose last product is at one line and that ran in one order.

    `places`: of their products, rows of the looked places, that of the last product first. `factors` of the chain that
    loses most, `ran` and `cheapest` its orders, with the operations of both, of one time. `agreed`: whether its
    cheapest order costs no more than what ran in each of the chains. `rows` of looked_operators: the products and
    those of their backward passes, of whose `rows_ns` that are theirs `saved_ns` are saved; `share` of the time of all
    operators, 0..1.
    """

    places: tuple[int, ...]
    count: int
    factors: tuple[Factor, ...]
    ran: Order
    cheapest: Order
    flops: int
    cheapest_flops: int
    agreed: bool
    rows: Array
    rows_ns: int
    saved_ns: int
    share: float

    @property
    def sparse(self) -> bool:
        """Whether one of the matrices is."""
        return any(each.entries is not None for each in self.factors)


@dataclass(frozen=True, eq=False)
class ProductOrder(Result):
    """`orders`: most time saved first, those that are so in each iteration of the look."""

    orders: tuple[CostlyOrder, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the chains of products."""
        graph = results.get(ValueGraph)
        products = named(trace, graph.operators, PRODUCTS)
        if not products.any():
            return cls(())
        judged = [_judged(graph, each) for each in product_chains(trace, graph, operators_of(trace))]
        lines = defaultdict[tuple[int, Order, tuple[bool, ...]], list[_Judged]](list)
        for each in judged:
            place = int(graph.operators["place"][each.chain.products[-1]])
            diagonal = tuple(factor.diagonal for factor in each.chain.factors)
            lines[place, each.chain.order, diagonal].append(each)
        whole = _whole(trace)
        found = [_order(graph, products, each, whole) for (place, *_), each in lines.items() if place >= 0]
        return cls(tuple(sorted((each for each in found if each is not None), key=lambda each: -each.saved_ns)))


@dataclass(frozen=True)
class _Judged:
    """A chain with what it took, and what it takes in the order with the fewest operations."""

    chain: ProductChain
    order: Order
    ran: Work
    best: Work
    saved_share: float


def _judged(graph: ValueGraph, chain: ProductChain) -> _Judged:
    """With which share of the time of its products that saves."""
    if chain.sparse:
        return _judged_by_time(graph, chain)
    order = cheapest(chain.factors)
    dense = [Factor(each.rows, each.columns, each.batch) for each in chain.factors]
    ran, best = work_of(dense, chain.order)[1], work_of(chain.factors, order)[1]
    saved = max(1 - best.effort / ran.effort, 0.0) if ran.flops > best.flops else 0.0
    return _Judged(chain, order, ran, best, saved)


def _judged_by_time(graph: ValueGraph, chain: ProductChain) -> _Judged:
    """An operation of a sparse product takes much longer than one of a dense product, and other orders have other
    gradients."""
    recorded = bool(graph.operators["graph"][chain.products[-1]])
    factors = [replace(each, diagonal=False, grad=each.grad and recorded) for each in chain.factors]
    found = SparseOrder.of(factors, chain.order, graph.operators["duration_ns"][list(chain.products)].tolist())
    ran, best = (work_of(factors, each)[1] for each in (chain.order, found.order))
    return _Judged(chain, found.order, ran, best, found.saved_share)


def _whole(trace: Trace) -> tuple[frozenset[int], ...]:
    """By look, the iterations that were seen whole; the first that was found in the operators is what came before the
    second."""
    look = trace.context.look
    parts = look.each if look is not None else ()
    firsts = [part.first_iteration + (not part.told and part.iterations > 1) for part in parts]
    return tuple(
        frozenset(range(first, part.first_iteration + part.iterations))
        for first, part in zip(firsts, parts, strict=True)
    )


def _order(
    graph: ValueGraph, products: Array, chains: Sequence[_Judged], whole: Sequence[frozenset[int]]
) -> CostlyOrder | None:
    """None where it is not so in each of the `whole` iterations of a look that saw it, or what is between may be read
    later."""
    iteration = graph.operators["iteration"]
    when = [int(iteration[each.chain.products[-1]]) for each in chains]
    looks = graph.operators["look"][[each.chain.products[-1] for each in chains]].tolist()
    last = {look: max(at for at, seen in zip(when, looks, strict=True) if seen == look) for look in looks}
    # what a name holds until the next iteration makes it anew
    counted = [
        each for each, at, look in zip(chains, when, looks, strict=True) if not each.chain.kept or at == last[look]
    ]
    gaining = [each for each in counted if each.saved_share > 0]
    seen = {int(iteration[each.chain.products[-1]]) for each in gaining}
    expected = frozenset[int]().union(*(each for each in whole if each & set(when)))
    if not gaining or not seen >= expected or all(each.chain.kept for each in gaining):
        return None
    lasted = graph.operators["duration_ns"]
    forward = np.array([row for each in gaining for row in each.chain.products], np.int64)
    spent_ns = int(lasted[forward].sum())
    saved_ns = sum(int(lasted[list(each.chain.products)].sum()) * each.saved_share for each in gaining)
    behind, behind_ns = _backward(graph, products, forward)
    rows_ns = spent_ns + behind_ns
    saved = round(saved_ns * rows_ns / spent_ns) if spent_ns else 0
    worst = max(gaining, key=lambda each: each.ran.flops - each.best.flops)
    whole_ns = int(lasted.sum())
    places = [int(graph.operators["place"][row]) for row in forward[::-1].tolist()]
    return CostlyOrder(
        places=tuple(dict.fromkeys(place for place in places if place >= 0)),
        count=len(gaining),
        factors=worst.chain.factors,
        ran=worst.chain.order,
        cheapest=worst.order,
        flops=worst.ran.flops,
        cheapest_flops=worst.best.flops,
        agreed=all(work_of(each.chain.factors, worst.order)[1].flops <= each.ran.flops for each in chains),
        rows=np.concatenate((forward, behind)),
        rows_ns=rows_ns,
        saved_ns=saved,
        share=saved / whole_ns if whole_ns else 0.0,
    )


def _backward(graph: ValueGraph, products: Array, forward: Array) -> tuple[Array, int]:
    """Products of backward passes at these lines, and the part of their time that these forward products have there."""
    operators, lasted = graph.operators, graph.operators["duration_ns"]
    rows, part_ns = [np.empty(0, np.int64)], 0.0
    for place in np.unique(operators["place"][forward]).tolist():
        behind = np.flatnonzero(products & operators["backward"] & (operators["forward_place"] == place))
        whole = int(lasted[products & ~operators["backward"] & (operators["place"] == place)].sum())
        own = int(lasted[forward[operators["place"][forward] == place]].sum())
        if place >= 0 and whole:
            rows.append(behind)
            part_ns += int(lasted[behind].sum()) * own / whole
    return np.concatenate(rows), round(part_ns)
