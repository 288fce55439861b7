"""Products of rows that were taken of a tensor many times over: of each of its rows the product is the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import LookedOperator, Taken, operators_of
from gpuprof.analyses.demand.operator_names import PRODUCTS, plain
from gpuprof.analyses.rows.followed_rows import is_gather
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# so many rows taken for each that the tensor has: with fewer, multiplying all of them first hardly wins
_LEAST_TIMES = 2.0
_LEAST_ROWS = 8
_MATRIX = 2


@dataclass(frozen=True, eq=False)
class GatheredProducts(Result):
    """Of the line with most time in such products: `taken_rows` rows were taken, at `taken_at`, of a tensor with
    `source_rows`, and multiplied at `place`, `products` times in the look: rows of the looked places, -1 where there
    are none.

    `rows`: of looked_operators, all such products, of any line, and their backward passes; `part` of their time, 0..1,
    is of rows that were multiplied before, less what it takes to take wider rows; `share`: of the time of all
    operators.
    """

    place: int = -1
    taken_at: int = -1
    source_rows: int = 0
    taken_rows: int = 0
    products: int = 0
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64))
    part: float = 0.0
    share: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators that take rows, and the products that read what they made."""
        table = results.get(ValueGraph).operators
        found = list(_products(operators_of(trace), table))
        by_place = defaultdict[int, list[_Product]](list)
        for each in found:
            by_place[int(table["place"][each.row])].append(each)
        most = max(by_place.values(), key=lambda group: sum(each.wasted_ns for each in group), default=None)
        if most is None:
            return cls()
        first, lasted = most[0], table["duration_ns"]
        rows = np.array(sorted({row for each in found for row in (each.row, *each.backward)}), np.int64)
        wasted, spent = sum(each.wasted_ns for each in found), float(lasted[rows].sum())
        return cls(
            place=int(table["place"][first.row]),
            taken_at=int(table["place"][first.gather.row]),
            source_rows=first.gather.source,
            taken_rows=first.gather.taken,
            products=len(most),
            rows=rows,
            part=wasted / spent if spent else 0.0,
            share=wasted / max(float(lasted.sum()), 1.0),
        )


class _Gather(NamedTuple):
    row: int
    source: int
    taken: int


class _Product(NamedTuple):
    row: int
    gather: _Gather
    backward: tuple[int, ...]
    wasted_ns: float


def _products(operators: Sequence[LookedOperator], table: Table) -> Iterator[_Product]:
    lasted, forward = table["duration_ns"], table["forward_operator"]
    gathered: dict[int, _Gather] = {}
    for row, operator in enumerate(operators):
        gather = _gather(row, operator)
        if gather is not None:
            gathered[operator.results[0].value] = gather
            continue
        of = _rows_of(operator, gathered)
        if of is None:
            continue
        backward = tuple(np.flatnonzero((forward == row) & table["backward"]).tolist())
        spent = float(lasted[[row, *backward]].sum())
        # the rows that are taken afterwards are as wide as the product, forward and backward
        wider = max(_columns(operator.results[0]) / max(_columns(operator.reads[_first(operator)]), 1) - 1, 0.0)
        passes = 2 if backward else 1
        wasted = spent * (1 - of.source / of.taken) - passes * wider * float(lasted[of.row])
        if wasted > 0:
            yield _Product(row, of, backward, wasted)


def _gather(row: int, operator: LookedOperator) -> _Gather | None:
    if not is_gather(operator) or operator.results[0].value < 0:
        return None
    source, made = operator.reads[0].geometry, operator.results[0].geometry
    if source is None or made is None or len(made.shape) != _MATRIX or source.shape[0] < _LEAST_ROWS:
        return None
    found = _Gather(row, source.shape[0], made.shape[0])
    return found if found.taken >= _LEAST_TIMES * found.source else None


def _first(operator: LookedOperator) -> int:
    """The place of the first factor among what it reads; -1 where it is no product of two matrices."""
    return PRODUCTS.get(plain(operator.name), -1)


def _rows_of(operator: LookedOperator, gathered: dict[int, _Gather]) -> _Gather | None:
    """Where all rows are multiplied with one matrix, and the same is added to each, if anything."""
    first = _first(operator)
    if first < 0 or operator.backward or len(operator.reads) != first + 2 or not operator.results:
        return None
    factor, other = operator.reads[first : first + 2]
    gather, view = gathered.get(factor.value), factor.geometry
    if gather is None or view is None or other.value in gathered or other.geometry is None:
        return None
    if view.shape[:1] != (gather.taken,) or len(view.shape) != _MATRIX or len(other.geometry.shape) != _MATRIX:
        return None
    added = operator.reads[0] if first else None
    return gather if added is None or added.elements <= _columns(operator.results[0]) else None


def _columns(taken: Taken) -> int:
    return taken.geometry.shape[-1] if taken.geometry is not None and taken.geometry.shape else 0
