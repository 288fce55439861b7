"""Matrix products run in an expensive order.

What it finds
    In the close look, matrix products whose result is read by nothing but another product, in an order that takes 1.5
    times the operations of the cheapest order or more: `(A @ B) @ x` instead of `A @ (B @ x)`. A diagonal matrix
    (`torch.diag(u)`, `torch.eye(n) * u`) as an operand counts, too: it only scales rows or columns. The operators that
    this saves take 5% of the operators’ time or more, in each looked-at iteration. With a sparse matrix, as in
    `torch.sparse.mm(A, X) @ W`, the order takes 1.5 times the time of the fastest one, by the times of the products.

Why it costs
    The order decides how large the results between are. A product of two n×n matrices takes 2n³ operations, one with a
    vector 2n², and scaling its rows n². The time of a sparse product goes with the columns of the dense matrix.

What to do
    Set parentheses so that the results between stay small. Scale with `u[:, None] * K` and `K * v` instead of products
    with `torch.diag(u)` and `torch.diag(v)`. Sums are rounded in another order, so results change slightly.

When to leave it
    When the result between is needed later, when other parts of the cell run the line with other shapes, or when the
    matrices are weights of layers that are to stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import ascii_uppercase

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.chain_orders import Factor, mirrored, text_of
from gpuprof.analyses.dataflow.looked_lines import LookedLines, UserLine
from gpuprof.analyses.dataflow.product_order import CostlyOrder, ProductOrder
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.sparse_orders import sparse_columns
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.joined_operands import operand_names
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, line_words
from gpuprof.rules.needless.unread import unread_unknown
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded

_NAMED = 3
# of all that is saved: chains with less are not told
_TOLD = 0.1
_VECTORS = ("u", "v", "w", *(f"u{number}" for number in range(2, 24)))


@dataclass(frozen=True)
class ExpensiveOrder(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    cost_factor: float = threshold(
        1.5, "times the operations of the cheapest order: less is lost again in how well products of other shapes run"
    )
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the chains of products."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        costly = tuple(each for each in results.get(ProductOrder).orders if _costly(each, self.cost_factor))
        share = sum(each.share for each in costly)
        if not costly or share < self.work_share:
            return None
        written = [_written(results, each) for each in costly[:_NAMED] if each.share >= _TOLD * share]
        first = written[0]
        places = tuple(dict.fromkeys(place for each in written for place in each.order.places))
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"Products at {first.where} run in an expensive order: {units.percent(share)} of the operators’ time",
            explanation=" ".join(_words(each) for each in written),
            evidence={
                "product_chains": sum(each.count for each in costly),
                "order_share": round(share, 4),
                "matrices": first.shapes,
                "order": first.ran,
                "cheapest_order": first.cheapest,
                "flops_each": first.order.flops,
                "flops_needed": first.order.cheapest_flops,
            },
            where=Where(lines=cell_lines(results, places)),
            change=_change(first),
            diff=_diff(results, first),
        )
        part = sum(each.saved_ns for each in costly) / max(sum(each.rows_ns for each in costly), 1)
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [each.rows for each in costly], among, part=part)


def _costly(order: CostlyOrder, factor: float) -> bool:
    """By operations; with a sparse matrix by time."""
    if order.sparse:
        return order.rows_ns >= factor * (order.rows_ns - order.saved_ns)
    return order.flops >= factor * order.cheapest_flops


@dataclass(frozen=True)
class _Written:
    """An order as the line has it where that can be told, else with letters. `named`: whether it can."""

    order: CostlyOrder
    line: UserLine | None
    names: tuple[str, ...]
    named: bool

    @property
    def where(self) -> str:
        return line_words(self.line)

    @property
    def scales(self) -> int:
        """How many matrices are diagonal."""
        return sum(factor.diagonal for factor in self.order.factors)

    @property
    def shapes(self) -> str:
        """`700×700, 700×700, 700×1`."""
        return ", ".join(map(_shape, self.order.factors))

    @property
    def ran(self) -> str:
        dense = [replace(factor, diagonal=False) for factor in self.order.factors]
        pairs = zip(self.names, self.order.factors, strict=True)
        return text_of(self.order.ran, dense, [f"diag({name})" if each.diagonal else name for name, each in pairs])

    @property
    def cheapest(self) -> str:
        return text_of(self.order.cheapest, self.order.factors, self.names)


def _shape(factor: Factor) -> str:
    stored = "" if factor.entries is None else f" (sparse, {units.plural(factor.entries, 'entry', 'entries')})"
    return f"{factor.rows}×{factor.columns}{stored}"


def _written(results: Results, order: CostlyOrder) -> _Written:
    line, cell = results.get(LookedLines).line(order.places[0]), results.context.cell
    diagonal = tuple(factor.diagonal for factor in order.factors)
    for each in (order, _turned(order)):
        alike = mirrored(each.ran) == each.ran and diagonal == diagonal[::-1]
        if alike or line is None or not line.in_cell or cell is None or len(order.places) > 1:
            break
        names = operand_names(cell.source, line.line, each.ran, [factor.diagonal for factor in each.factors])
        if names is not None:
            return _Written(each, line, names, named=True)
    vectors, matrices = iter(_VECTORS), iter(ascii_uppercase)
    return _Written(order, line, tuple(next(vectors if each else matrices) for each in diagonal), named=False)


def _turned(order: CostlyOrder) -> CostlyOrder:
    """The same chain transposed: torch computes `x @ A` of a vector as the product of the transposed matrix with it."""
    factors = tuple(
        replace(factor, rows=factor.columns, columns=factor.rows, vector=False) for factor in order.factors[::-1]
    )
    return replace(order, factors=factors, ran=mirrored(order.ran), cheapest=mirrored(order.cheapest))


def _words(each: _Written) -> str:
    where, order = each.where, each.order
    scaled = f" ({each.scales} of {len(order.factors)} are diagonal)" if each.scales else ""
    return (
        f"{where[0].upper()}{where[1:]} multiplies matrices of {each.shapes}{scaled} as `{each.ran}`: "
        f"{units.operations(order.flops)} ({units.plural(order.count, 'time')} in the looked-at iterations). "
        f"`{each.cheapest}` takes {units.operations(order.cheapest_flops)}.{_columns(order)}"
    )


def _columns(order: CostlyOrder) -> str:
    """An operation of a sparse product takes longer than others: what counts is how wide it is."""
    ran, cheapest = (sparse_columns(order.factors, each) for each in (order.ran, order.cheapest))
    return f" The sparse product then has {units.plural(cheapest, 'column')} instead of {ran}." if ran else ""


def _change(first: _Written) -> str:
    how = "Scale rows and columns instead of multiplying by a diagonal matrix" if first.scales else "Set parentheses"
    return f"{how} at {first.where}: `{first.cheapest}`. Sums are rounded in another order: results change slightly."


def _diff(results: Results, first: _Written) -> str | None:
    """Where nothing but plain names is multiplied at one line, and its order suits whatever ran there."""
    line, order = first.line, first.order
    if not first.named or first.scales or not order.agreed or line is None:
        return None
    return cell_diff(results, lambda source: _edit(source, line.line, order))


def _edit(source: str, line: int, order: CostlyOrder) -> str | None:
    from gpuprof.code_edits.models.products import order_products

    return order_products(source, line, order.ran, order.cheapest)
