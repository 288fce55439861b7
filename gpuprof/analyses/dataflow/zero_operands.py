"""Matrices that are multiplied as dense ones although they are almost all zeros."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import named, own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import LookedOperator, Taken, operators_of
from gpuprof.model.kinds import ValueKind, ZeroPattern
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# which of their tensors is the first factor; of a mv the second one is a vector
_FIRST = {"mm": 0, "bmm": 0, "mv": 0, "matmul": 0, "addmm": 1, "_addmm_activation": 1, "baddbmm": 1, "addmv": 1}
_FIRST |= {"linear": 0}
_PRODUCTS = frozenset(_FIRST)
_OF_VECTORS = ("mv", "addmv")
# of sparse matrices torch has these; `einsum` and more axes lead to `bmm`
_OF_MATRICES = ("mm", "addmm", "_addmm_activation", "linear", *_OF_VECTORS)
# what an element that is not zero takes of a sparse product, in operations of a dense one: 3 to 13 were measured
# (benchmarks/sparse_products.py), and on devices far more
_SPARSE_COST, _SPARSE_COST_ON_DEVICE = 16, 64
# a thin product takes as long as reading its matrices, a small one as long as starting it (as in chain_orders)
_OPERATIONS_PER_ELEMENT, _OPERATIONS_PER_CALL = 32, 200_000
# what is not trained; the zeros of the others are of the moment
_JUDGED = (ValueKind.OTHER, ValueKind.BUFFER)
# of smaller ones by default nobody counts the zeros
_FEWEST = 65_536
# smaller ones may have a pattern by chance
_LEAST_SIDE = 64
_TURNED = {
    ZeroPattern.ONE_HOT_ROWS: ZeroPattern.ONE_HOT_COLUMNS,
    ZeroPattern.ONE_HOT_COLUMNS: ZeroPattern.ONE_HOT_ROWS,
}


@dataclass(frozen=True, eq=False)
class ZeroOperand:
    """One matrix, or those of one line that have one pattern, by all products that read it.

    `places`: of its products in forward passes, rows of the looked places, that with most time first. `left`: it is the
    first factor. `pattern` of its rows and columns as they are multiplied. `rows_count`×`columns` is its shape,
    `nonzeros` of them are not zero, and it is multiplied with `free` columns or rows in the largest product, `vector`:
    with a tensor that has no such axis. `steady`:
    it is one value that several iterations read. `turned`: the largest product reads it transposed; `plain`: that is a
    product of two matrices, or of a matrix and a vector. `rows` of looked_operators take `rows_ns`, of which `saved_ns`
    are saved, `share` of the time of all operators, 0..1.
    """

    places: tuple[int, ...]
    left: bool
    pattern: ZeroPattern
    steady: bool
    batch: int
    rows_count: int
    columns: int
    nonzeros: int
    free: int
    vector: bool
    turned: bool
    plain: bool
    dtype: str
    device: str
    count: int
    rows: Array
    rows_ns: int
    saved_ns: int
    share: float

    @property
    def zeros_share(self) -> float:
        """Of its elements."""
        return 1 - self.nonzeros / max(self.batch * self.rows_count * self.columns, 1)


@dataclass(frozen=True, eq=False)
class ZeroOperands(Result):
    """`operands`: most time saved first. `uncounted_share`: of the operators' time that of products with a matrix that
    stays the same, and whose zeros were not counted."""

    operands: tuple[ZeroOperand, ...]
    uncounted_share: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the products and the zeros of what they read."""
        graph = results.get(ValueGraph)
        if not named(trace, graph.operators, _PRODUCTS).any():
            return cls(())
        return cls(*_Products(trace, graph).judged())


@dataclass(frozen=True)
class _Use:
    """One product that reads a matrix. `effort` as it ran, `cheapest` with what the zeros leave."""

    row: int
    value: int
    left: bool
    pattern: ZeroPattern
    zeros: float
    batch: int
    shape: tuple[int, int]
    turned: bool
    free: int
    effort: float
    cheapest: float

    @property
    def saved_share(self) -> float:
        return max(1 - self.cheapest / self.effort, 0.0)


class _Products:
    def __init__(self, trace: Trace, graph: ValueGraph):
        self._trace, self._graph, self._operators = trace, graph, operators_of(trace)
        table, values = graph.operators, graph.values
        self._lasted = table["duration_ns"]
        self._iteration, self._place = table["iteration"].tolist(), table["place"].tolist()
        self._zeros, self._pattern = values["zeros_share"].tolist(), values["zero_pattern"].tolist()
        self._elements, self._kind = values["elements"].tolist(), values["kind"].tolist()
        self._dtype, self._device = values["dtype"].tolist(), values["device"].tolist()
        self._uses = [use for row, each in enumerate(self._operators) for use in self._of(row, each)]
        self._steady = self._steady_values()

    def judged(self) -> tuple[tuple[ZeroOperand, ...], float]:
        whole_ns = max(int(self._lasted.sum()), 1)
        groups = defaultdict[Hashable, list[_Use]](list)
        of_value = dict[int, Hashable]()
        for use in self._uses:
            if not self._operators[use.row].backward:
                key: Hashable = use.value if use.value in self._steady else (self._place[use.row], use.left)
                of_value[use.value] = key
                groups[key].append(use)
        for use in self._uses:
            if self._operators[use.row].backward and use.value in of_value:
                groups[of_value[use.value]].append(use)
        found = [self._operand(each, isinstance(key, int), whole_ns) for key, each in groups.items()]
        uncounted = {use.row for use in self._uses if use.value in self._steady and self._may_be_sparse(use)}
        operands = sorted(
            (each for each in found if each is not None and each.saved_ns), key=lambda each: -each.saved_ns
        )
        return tuple(operands), int(self._lasted[list(uncounted)].sum()) / whole_ns

    def _may_be_sparse(self, use: _Use) -> bool:
        """Whether its zeros should have been counted, and were not."""
        return use.zeros != use.zeros and self._elements[use.value] >= _FEWEST and self._can_be_sparse(use)

    def _of(self, row: int, operator: LookedOperator) -> Iterator[_Use]:
        first = _FIRST.get(own_name(operator.name))
        if first is None or operator.writes or len(operator.results) != 1:
            return
        made = operator.results[0]
        factors = operator.reads[first : first + 2]
        if len(factors) < 2 or made.elements <= 0:
            return
        for number, taken in enumerate(factors):
            use = self._use(row, taken, factors[1 - number].elements, made.elements, left=number == 0)
            if use is not None:
                yield use

    def _use(self, row: int, taken: Taken, other: int, made: int, *, left: bool) -> _Use | None:
        """None where it is no matrix, not all of its storage, or trained."""
        geometry = taken.geometry
        if taken.value < 0 or geometry is None or len(geometry.shape) not in (2, 3) or not geometry.elements:
            return None
        whole = geometry.elements == self._elements[taken.value] and geometry.distinct == geometry.elements
        if not whole or self._kind[taken.value] not in _JUDGED:
            return None
        batch = geometry.shape[0] if len(geometry.shape) == 3 else 1
        rows, columns = geometry.shape[-2:]
        zeros, pattern = self._zeros[taken.value], ZeroPattern(self._pattern[taken.value])
        turned = geometry.strides[-1] != 1 and geometry.strides[-2] == 1
        if own_name(self._operators[row].name) == "linear" and not left:
            rows, columns, turned = columns, rows, not turned
        if turned:
            pattern = _TURNED.get(pattern, pattern)
        if min(rows, columns) < _LEAST_SIDE or (pattern is ZeroPattern.DIAGONAL and rows != columns):
            pattern = ZeroPattern.NONE
        free = max(made // (batch * (rows if left else columns)), 1)
        effort = 2.0 * geometry.elements * free + _moved(geometry.elements + other + made)
        if pattern is not ZeroPattern.NONE:
            cheapest = _moved(other + made) + _OPERATIONS_PER_CALL
        else:
            filled = geometry.elements * (1 - zeros)
            cost = _SPARSE_COST if self._is_host(taken.value) else _SPARSE_COST_ON_DEVICE
            cheapest = 2.0 * filled * free * cost + _moved(other + made)
        return _Use(row, taken.value, left, pattern, zeros, batch, (rows, columns), turned, free, effort, cheapest)

    def _is_host(self, value: int) -> bool:
        return self._name(self._device[value]) == "cpu"

    def _name(self, number: int) -> str:
        return str(self._trace.names[number]) if number >= 0 else ""

    def _steady_values(self) -> set[int]:
        """Values that forward products of several iterations read; of unknown ones at least three products."""
        read = defaultdict[int, list[int]](list)
        for use in self._uses:
            if not self._operators[use.row].backward:
                read[use.value].append(self._iteration[use.row])
        return {
            value
            for value, iterations in read.items()
            if len(set(iterations) - {-1}) > 1 or (max(iterations) < 0 and len(iterations) > 2)
        }

    def _operand(self, uses: Sequence[_Use], steady: bool, whole_ns: int) -> ZeroOperand | None:
        forward = [use for use in uses if not self._operators[use.row].backward]
        counted = [use for use in forward if use.zeros == use.zeros]
        if not counted or any(use.zeros >= 1 for use in counted):
            return None
        patterns = {use.pattern for use in counted}
        pattern = counted[0].pattern if len(patterns) == 1 else ZeroPattern.NONE
        if pattern is ZeroPattern.NONE and not (steady and self._can_be_sparse(counted[0])):
            return None
        several = len({self._iteration[use.row] for use in counted} - {-1}) > 1 or len(counted) > 2
        if not steady and not several:
            return None
        # of what is made anew not each one is counted
        part = sum(use.saved_share for use in counted) / len(counted)
        saved_ns = sum(
            int(self._lasted[use.row]) * (use.saved_share if use.zeros == use.zeros else part) for use in uses
        )
        by_place = defaultdict[int, int](int)
        for use in forward:
            by_place[self._place[use.row]] += int(self._lasted[use.row])
        largest = max(counted, key=lambda use: use.effort)
        rows = np.array(sorted({use.row for use in uses}), np.int64)
        elements = largest.batch * largest.shape[0] * largest.shape[1]
        return ZeroOperand(
            places=tuple(place for place in sorted(by_place, key=lambda place: -by_place[place]) if place >= 0),
            left=largest.left,
            pattern=pattern,
            steady=steady,
            batch=largest.batch,
            rows_count=largest.shape[0],
            columns=largest.shape[1],
            nonzeros=round(elements * (1 - largest.zeros)),
            free=largest.free,
            vector=own_name(self._operators[largest.row].name) in _OF_VECTORS,
            turned=largest.turned,
            plain=own_name(self._operators[largest.row].name) in _OF_MATRICES,
            dtype=self._name(self._dtype[largest.value]),
            device=self._name(self._device[largest.value]),
            count=len(forward),
            rows=rows,
            rows_ns=int(self._lasted[rows].sum()),
            saved_ns=round(saved_ns),
            share=saved_ns / whole_ns,
        )

    def _can_be_sparse(self, use: _Use) -> bool:
        """torch has sparse products of one matrix, in single and double precision."""
        return use.batch == 1 and self._name(self._dtype[use.value]) in ("float32", "float64")


def _moved(elements: int) -> float:
    return float(_OPERATIONS_PER_ELEMENT * elements + _OPERATIONS_PER_CALL)
