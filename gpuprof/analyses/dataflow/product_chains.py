"""Chains of matrix products: each product but the last is read by the next one and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuprof.analyses.dataflow.chain_orders import Factor, Order
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.geometry import Geometry
from gpuprof.analyses.demand.looked import LookedOperator, Taken
from gpuprof.model.trace import Trace

_SPARSE_SUM = "_sparse_addmm"
PRODUCTS = frozenset(("mm", "bmm", "mv", "addmm", "baddbmm", "addmv", _SPARSE_SUM))
# what these give is the product alone
_PURE = frozenset(("mm", "bmm", "mv"))
# handling an entry of a sparse matrix, as coordinates and by rows, takes as long as so many columns (measured on a CPU)
_COLUMNS_OF_COORDINATES, _COLUMNS_BY_ROWS = 64, 8
_DIAGONALS = {"diag_embed": [0, -2, -1], "diag": [0]}
# longer ones are recurrences, and take long to judge
_MOST_FACTORS = 24


@dataclass(frozen=True)
class ProductChain:
    """`products`: rows of looked_operators, the last one last. `order`: in which they ran, by numbers of the
    `factors`. `kept`: whether a result between them was there when the look ended."""

    products: tuple[int, ...]
    factors: tuple[Factor, ...]
    order: Order
    kept: bool

    @property
    def sparse(self) -> bool:
        """Whether one of the factors is."""
        return any(each.entries is not None for each in self.factors)


@dataclass(frozen=True)
class _Matrix:
    """A tensor as a matrix, or as a batch of them. `steps`: its strides by row, column and batch."""

    factor: Factor
    steps: tuple[int, int, int]
    offset: int

    @property
    def transposed(self) -> _Matrix:
        by_row, by_column, by_batch = self.steps
        turned = replace(self.factor, rows=self.factor.columns, columns=self.factor.rows, vector=False)
        return _Matrix(turned, (by_column, by_row, by_batch), self.offset)


def product_chains(trace: Trace, graph: ValueGraph, operators: Sequence[LookedOperator]) -> list[ProductChain]:
    """All of two matrices or more, in the order of their last products; those of backward passes are left out."""
    return _Chains(trace, graph, operators).all()


class _Chains:
    def __init__(self, trace: Trace, graph: ValueGraph, operators: Sequence[LookedOperator]):
        self._graph, self._operators = graph, operators
        self._backward = graph.operators["backward"].tolist()
        self._view = graph.view.tolist()
        self._iteration = graph.operators["iteration"].tolist()
        self._told = trace.context.look is None or all(each.told for each in trace.context.look.each)
        self._each = len(self._iteration) / max(len(set(self._iteration)), 1)
        self._made_by, self._gone_at = graph.values["made_by"].tolist(), graph.values["gone_at"].tolist()
        self._storage = graph.values["storage"].tolist()
        self._shown = set(graph.values["storage"][graph.values["read_outside"]].tolist())
        self._written_at = _written_at(self._storage, self._made_by)
        self._products = {
            row: found
            for row, each in enumerate(operators)
            if own_name(each.name) in PRODUCTS and (found := _operands(each)) is not None
        }
        self._next = {row: reader for row in self._products if (reader := self._reader(row)) is not None}

    def all(self) -> list[ProductChain]:
        found = []
        for last in self._products:
            if last in self._next:
                continue
            products, factors, values = list[int](), list[Factor](), list[int]()
            order = self._flat(last, products, factors, values, turned=False)
            if order is None or any(self._written_at.get(value, last) < last for value in values):
                continue
            between = [self._operators[row].results[0].value for row in products[:-1]]
            kept = any(self._gone_at[value] < 0 for value in between)
            found.append(ProductChain(tuple(products), tuple(factors), order, kept))
        return found

    def _reader(self, row: int) -> int | None:
        """The one product that reads this one's result, in a forward pass and the same iteration."""
        each = self._operators[row]
        value = each.results[0].value if each.results else -1
        if not _is_pure(each) or value < 0 or self._made_by[value] != row:
            return None
        if self._storage[value] in self._shown:
            return None
        reads = self._graph.reads["operator"][self._graph.readers.of(value)].tolist()
        readers = [reader for reader in reads if not self._view[reader] and not self._backward[reader]]
        if len(readers) != 1 or readers[0] not in self._products:
            return None
        reader = readers[0]
        fits = any(
            operand.value == value and self._turned(row, matrix) is not None
            for operand, matrix in self._products[reader]
        )
        return reader if fits and self._together(row, reader) else None

    def _together(self, row: int, reader: int) -> bool:
        """Whether both are of one turn. Iterations that were found in the operators may begin between the two."""
        if self._iteration[row] == self._iteration[reader]:
            return True
        return not self._told and (reader - row) * 2 <= self._each

    def _turned(self, row: int, read: _Matrix) -> bool | None:
        """Whether it is read transposed; None where what is read is not all of its result."""
        made = _matrix(self._operators[row].results[0].geometry)
        return None if made is None else _is_transposed(made, read)

    def _flat(
        self, row: int, products: list[int], factors: list[Factor], values: list[int], *, turned: bool
    ) -> Order | None:
        """The order of this product; products, factors and the values that those read are added. None: too long."""
        sides = []
        for operand, read in self._products[row][:: -1 if turned else 1]:
            maker = self._made_by[operand.value] if operand.value >= 0 else -1
            if self._next.get(maker) == row:
                inner = bool(self._turned(maker, read)) != turned
                part = self._flat(maker, products, factors, values, turned=inner)
            else:
                matrix = read.transposed if turned else read
                part = len(factors)
                diagonal = matrix.factor.entries is None and self._is_diagonal(operand, read)
                factors.append(replace(matrix.factor, diagonal=diagonal, grad=operand.grad))
                values.append(operand.value)
            if part is None or len(factors) > _MOST_FACTORS:
                return None
            sides.append(part)
        products.append(row)
        return sides[0], sides[1]

    def _is_diagonal(self, operand: Taken, read: _Matrix) -> bool:
        maker = self._made_by[operand.value] if operand.value >= 0 else -1
        if not 0 <= maker < len(self._operators) or not self._makes_diagonal(self._operators[maker]):
            return False
        made = _matrix(self._operators[maker].results[0].geometry)
        return made is not None and made.factor.rows == made.factor.columns and _is_transposed(made, read) is not None

    def _makes_diagonal(self, maker: LookedOperator) -> bool:
        """`diag(vector)`, `eye(n)`, or that times anything of no larger shape."""
        name, given = own_name(maker.name), maker.arguments
        if name in _DIAGONALS:
            vector = maker.reads[0].geometry if maker.reads else None
            plain = given is not None and list(given[1:]) == _DIAGONALS[name]
            return plain and vector is not None and (name == "diag_embed" or len(vector.shape) == 1)
        if name == "mul":
            shape = maker.results[0].geometry
            return shape is not None and any(
                each.value >= 0
                and each.geometry is not None
                and each.geometry.shape == shape.shape
                and self._is_eye(self._made_by[each.value])
                for each in maker.reads
            )
        return name == "eye"

    def _is_eye(self, row: int) -> bool:
        return 0 <= row < len(self._operators) and own_name(self._operators[row].name) == "eye"


def _is_pure(operator: LookedOperator) -> bool:
    """`torch.sparse.mm` adds a product to zeros, times 0."""
    name = own_name(operator.name)
    plain = operator.arguments is not None and list(operator.arguments[3:]) == [0, 1]
    return name in _PURE or (name == _SPARSE_SUM and plain)


def _operands(operator: LookedOperator) -> tuple[tuple[Taken, _Matrix], ...] | None:
    """Both factors; None where one is neither strided nor sparse, or both are sparse, or it runs in a backward pass or
    writes to an argument."""
    if operator.backward or operator.writes:
        return None
    found = []
    for each in operator.reads[-2:]:
        matrix = _matrix(each.geometry) or _sparse(each)
        if matrix is not None:
            found.append((each, matrix))
    if sum(matrix.factor.entries is not None for _, matrix in found) > 1:
        return None
    fit = len(found) == 2 and found[0][1].factor.columns == found[1][1].factor.rows
    return tuple(found) if fit and operator.results else None


def _matrix(tensor: Geometry | None) -> _Matrix | None:
    """A vector is a column; None of other tensors, and of empty ones."""
    if tensor is None or not 1 <= len(tensor.shape) <= 3 or not tensor.elements:
        return None
    if len(tensor.shape) == 1:
        return _Matrix(Factor(tensor.shape[0], 1, vector=True), (tensor.strides[0], 0, 0), tensor.offset)
    rows, columns = tensor.shape[-2:]
    batch, by_batch = (tensor.shape[0], tensor.strides[0]) if len(tensor.shape) == 3 else (1, 0)
    factor = Factor(rows, columns, batch if by_batch else 1)
    return _Matrix(factor, (tensor.strides[-2], tensor.strides[-1], by_batch if factor.batch > 1 else 0), tensor.offset)


def _sparse(tensor: Taken) -> _Matrix | None:
    """None of dense tensors, and where the entries are followed by autograd: their gradient is another product."""
    stored = tensor.stored
    if stored is None or tensor.grad or len(stored.shape) != 2:
        return None
    beside = _COLUMNS_OF_COORDINATES if stored.coordinates else _COLUMNS_BY_ROWS
    return _Matrix(Factor(*stored.shape, entries=stored.entries, entry_columns=beside), (0, 0, 0), 0)


def _is_transposed(made: _Matrix, read: _Matrix) -> bool | None:
    """None where they are not the same elements."""
    for turned, other in ((False, read), (True, read.transposed)):
        one, two = made.factor, other.factor
        sizes = (one.rows, one.columns, one.batch)
        same = sizes == (two.rows, two.columns, two.batch) and made.offset == other.offset
        if same and all(
            size == 1 or step == step_read for size, step, step_read in zip(sizes, made.steps, other.steps, strict=True)
        ):
            return turned
    return None


def _written_at(storage: Sequence[int], made_by: Sequence[int]) -> dict[int, int]:
    """By value the operator that writes over it; without those that are only freed."""
    found, latest = dict[int, int](), dict[int, int]()
    for value, where in enumerate(storage):
        if where in latest:
            found[latest[where]] = made_by[value]
        latest[where] = value
    return found
