"""Operators that take far more operations, at their shapes, than a standard alternative that torch has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import named, own_name
from gpuprof.analyses.dataflow.summed_products import summed_product
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from gpuprof.analyses.demand import algorithm_costs
from gpuprof.analyses.demand.geometry import Geometry
from gpuprof.analyses.demand.looked import LookedOperator, Taken, operators_of
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class Algorithm(Enum):
    """What runs."""

    CONVOLUTION = "convolution"
    INVERSE = "inverse"
    DIFFERENCES = "differences"
    PRODUCTS = "products"
    COLUMNS = "columns"
    FACTORED_AGAIN = "factored again"


@dataclass(frozen=True, eq=False)
class CostlyUse:
    """All uses of one algorithm at one line.

    `places`: rows of the looked places, the line of the costly operator first. `shapes` in words and `size` (taps of a
    convolution, rows of a matrix, the length of what is reduced or summed) are of the largest use, `factor` is how many
    times as long it takes as the alternative. `rows` of looked_operators take `rows_ns`, of which `saved_ns` are saved,
    `share` of the time of all operators, 0..1.
    """

    algorithm: Algorithm
    places: tuple[int, ...]
    operator: str
    shapes: str
    size: int
    factor: float
    count: int
    rows: Array
    rows_ns: int
    saved_ns: int
    share: float


@dataclass(frozen=True, eq=False)
class CostlyAlgorithms(Result):
    """`uses`: most time saved first."""

    uses: tuple[CostlyUse, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators with their shapes, and who reads what they make."""
        graph = results.get(ValueGraph)
        if not named(trace, graph.operators, _STARTS).any():
            return cls(())
        finder = _AlgorithmFinder(trace, graph, results.get(ValueNumbers).content.tolist())
        groups = defaultdict[tuple[Algorithm, int], list[_Found]](list)
        for found in finder.all():
            groups[found.algorithm, int(graph.operators["place"][found.rows[0]])].append(found)
        uses = [_use(graph, algorithm, each, finder.operators) for (algorithm, _), each in groups.items()]
        return cls(tuple(sorted((each for each in uses if each.places), key=lambda each: -each.saved_ns)))


@dataclass(frozen=True)
class _Found:
    """`rows`: the costly operator, and those that go with it."""

    algorithm: Algorithm
    rows: tuple[int, ...]
    shapes: str
    size: int
    factor: float


_CONVOLUTIONS = frozenset(("convolution", "conv1d"))
_INVERSES = frozenset(("linalg_inv_ex", "linalg_inv", "inverse"))
_DIFFERENCES = frozenset(("sub", "rsub"))
_MULTIPLIED = frozenset(("mul",))
_GATHERS = frozenset(("index", "index_select"))
# a factorization of their first argument, and what is left to do for the second
_SOLVES = frozenset(("_linalg_solve_ex", "linalg_solve_ex", "linalg_solve"))
_FEWEST_SOLVES = 3
_STARTS = _SOLVES | _GATHERS | _CONVOLUTIONS | _INVERSES | _DIFFERENCES | _MULTIPLIED
_FACTORS = {"mm": 0, "bmm": 0, "mv": 0, "matmul": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}
_SUMS = frozenset(("sum", "norm", "linalg_vector_norm", "mean"))
_TYPES = ("float32", "float64")
_ITEM_BYTES = {"float32": 4, "float64": 8}
# elements: nearer ones share a cache line
_APART = 16
# of a norm, that the differences are not squared before it
_NORMS = frozenset(("norm", "linalg_vector_norm"))
_SQUARES = frozenset(("pow", "square", "mul", "abs"))


class _AlgorithmFinder:
    def __init__(self, trace: Trace, graph: ValueGraph, content: Sequence[int]):
        self.operators = operators_of(trace)
        self._graph, self._content = graph, content
        self._view = graph.view.tolist()
        self._iteration = graph.operators["iteration"].tolist()
        self._made_by, self._kept = graph.values["made_by"].tolist(), (graph.values["gone_at"] < 0).tolist()
        self._storage = graph.values["storage"].tolist()
        self._shown = set(graph.values["storage"][graph.values["read_outside"]].tolist())
        self._types = [str(trace.names[each]) if each >= 0 else "" for each in graph.values["dtype"].tolist()]
        self._devices = [str(trace.names[each]) if each >= 0 else "" for each in graph.values["device"].tolist()]
        self._spent_ns = trace.tables["looked_operators"]["duration_ns"].tolist()
        self._shortest_ns: dict[tuple[object, ...], int] = {}
        self._look = graph.operators["look"].tolist()
        self._last = dict[int, int]()
        for look, iteration in zip(self._look, self._iteration, strict=True):
            self._last[look] = max(self._last.get(look, iteration), iteration)

    def all(self) -> list[_Found]:
        found = []
        for row, each in enumerate(self.operators):
            name = own_name(each.name)
            if each.backward or each.writes or not each.name.startswith("aten::"):
                continue
            if not self._is_plain(each):
                continue
            if name in _CONVOLUTIONS:
                found.append(_convolution(row, each, self._host_ns(row, each)))
            elif name in _INVERSES:
                found.append(self._inverse(row, each))
            elif name in _DIFFERENCES:
                found.append(self._differences(row, each))
            elif name in _MULTIPLIED:
                found.append(self._products(row, each))
            elif name in _GATHERS:
                found.append(self._columns(row, each))
        return [each for each in found if each is not None] + self._solves()

    def _host_ns(self, row: int, operator: LookedOperator) -> int | None:
        """How long it took, or another one of the same shapes, the shortest; None where a device did the work."""
        made = operator.results[0].value if operator.results else -1
        if made < 0 or self._devices[made] != "cpu":
            return None
        if not self._shortest_ns:
            for at, each in enumerate(self.operators):
                spent = self._spent_ns[at]
                self._shortest_ns[_shapes(each)] = min(self._shortest_ns.get(_shapes(each), spent), spent)
        return self._shortest_ns[_shapes(operator)]

    def _solves(self) -> list[_Found]:
        """With a matrix that was factored before, for another right-hand side: the same one is repeated work."""
        same = defaultdict[tuple[int, Geometry], dict[tuple[int, Geometry | None], int]](dict)
        for row, each in enumerate(self.operators):
            if own_name(each.name) in _SOLVES and len(each.reads) == 2 and not each.backward and self._is_plain(each):
                matrix, side = each.reads
                if min(matrix.value, side.value) >= 0 and matrix.geometry is not None:
                    again = same[self._content[matrix.value], matrix.geometry]
                    again.setdefault((self._content[side.value], side.geometry), row)
        later = [row for rows in same.values() if len(rows) >= _FEWEST_SOLVES for row in sorted(rows.values())[1:]]
        return [found for row in later if (found := _solved_again(row, self.operators[row])) is not None]

    def _is_plain(self, operator: LookedOperator) -> bool:
        """Of single or double precision: the alternatives lack other types on a CPU."""
        made = operator.results[0].value if operator.results else -1
        return made >= 0 and self._types[made] in _TYPES

    def _readers(self, value: int) -> list[int] | None:
        """The forward operators that read a value, views left out; None where something else may read it."""
        if value < 0 or self._storage[value] in self._shown:
            return None
        maker = self._made_by[value]
        # what a name holds until the next iteration makes it anew
        if maker < 0 or (self._kept[value] and self._iteration[maker] < self._last[self._look[maker]]):
            return None
        rows = self._graph.reads["operator"][self._graph.readers.of(value)].tolist()
        return [row for row in dict.fromkeys(rows) if not self._view[row] and not self.operators[row].backward]

    def _inverse(self, row: int, operator: LookedOperator) -> _Found | None:
        """Whose result is multiplied, and nothing else."""
        made = operator.results[0].geometry if operator.results else None
        if made is None or len(made.shape) < 2:
            return None
        value = operator.results[0].value
        readers = self._readers(value)
        if not readers:
            return None
        size, batch, columns = made.shape[-1], made.elements // made.shape[-1] ** 2, 0
        for reader in readers:
            each = self.operators[reader]
            first = _FACTORS.get(own_name(each.name))
            factors = each.reads[first : first + 2] if first is not None else ()
            other = next((taken.geometry for taken in factors if taken.value != value), None)
            if other is None or len(factors) != 2 or other.elements % (size * batch) or each.writes:
                return None
            columns += other.elements // (size * batch)
        times = algorithm_costs.inverse(batch, size, columns)
        shapes = f"{_times(made.shape)}, multiplied with {units.plural(columns, 'column')}"
        return _Found(Algorithm.INVERSE, (row, *readers), shapes, size, times)

    def _differences(self, row: int, operator: LookedOperator) -> _Found | None:
        """Of all pairs of rows, squared and summed over the last axis."""
        made = operator.results[0].geometry if operator.results else None
        if made is None or len(operator.reads) != 2 or len(made.shape) < 3 or not _is_outer(operator.reads, made):
            return None
        if operator.arguments is not None and operator.arguments[2:] not in ([], [1], [1.0]):
            return None  # a multiple is subtracted
        value, rows = operator.results[0].value, [row]
        for _ in range(2):
            readers = self._readers(value)
            if readers is None or len(readers) != 1:
                return None
            reader = self.operators[readers[0]]
            name, before = own_name(reader.name), len(rows)
            rows.append(readers[0])
            if name in _SUMS and (before == 2 or name in _NORMS):
                length, squared = made.shape[-1], _is_squared(self.operators[rows[1]])
                if not _over_last(reader, len(made.shape)) or not reader.results:
                    return None
                return _Found(
                    *(Algorithm.DIFFERENCES, tuple(rows), _times(made.shape), length),
                    algorithm_costs.distances(length, squared=squared),
                )
            squared = name in _SQUARES and not reader.writes and _is_square(name, reader) and before == 1
            if not squared or not reader.results:
                return None
            value = reader.results[0].value
        return None

    def _products(self, row: int, operator: LookedOperator) -> _Found | None:
        """Of all pairs of elements, summed along one axis."""
        made = operator.results[0].geometry if operator.results else None
        readers = self._readers(operator.results[0].value) if made is not None and len(made.shape) > 1 else None
        if made is None or readers is None or len(readers) != 1:
            return None
        total = self.operators[readers[0]]
        found = summed_product(operator, total) if own_name(total.name) == "sum" and not total.writes else None
        if found is None:
            return None
        return _Found(Algorithm.PRODUCTS, (row, readers[0]), _times(made.shape), found.length, found.factor)

    def _columns(self, row: int, operator: LookedOperator) -> _Found | None:
        """By one list of numbers, from a matrix that was there before, along the axis of neighbors in memory."""
        if len(operator.reads) != 2 or not operator.results:
            return None
        base, chosen, made = operator.reads[0].geometry, operator.reads[1].geometry, operator.results[0].geometry
        if base is None or chosen is None or made is None or len(base.shape) != 2 or len(chosen.shape) != 1:
            return None
        if operator.reads[0].value < 0 or self._made_by[operator.reads[0].value] >= 0 or len(made.shape) != 2:
            return None
        for axis in range(2):
            other = 1 - axis
            alike = made.shape[axis] == chosen.shape[0] and made.shape[other] == base.shape[other]
            if alike and base.strides[axis] == 1 and base.strides[other] >= _APART:
                rows, kept = base.shape[other], base.elements * _ITEM_BYTES[self._types[operator.reads[0].value]]
                factor = algorithm_costs.columns(rows, kept)
                shapes = f"{chosen.shape[0]:,} columns of {_times((rows, base.shape[axis]))}"
                return _Found(Algorithm.COLUMNS, (row,), shapes, rows, factor) if factor > 1 else None
        return None


def _solved_again(row: int, operator: LookedOperator) -> _Found | None:
    """Once its matrix is factored, a solve takes two products with triangles."""
    matrix, made = operator.reads[0].geometry, operator.results[0].geometry if operator.results else None
    if matrix is None or made is None or len(matrix.shape) < 2 or matrix.shape[-1] != matrix.shape[-2]:
        return None
    size, batch = matrix.shape[-1], max(matrix.elements // max(matrix.shape[-1] ** 2, 1), 1)
    columns = made.elements // max(size * batch, 1)
    times = algorithm_costs.factored_again(batch, size, columns)
    shapes = f"{_times(matrix.shape)}, {units.plural(columns, 'column')} at a time"
    return _Found(Algorithm.FACTORED_AGAIN, (row,), shapes, size, times)


def _shapes(operator: LookedOperator) -> tuple[object, ...]:
    return (own_name(operator.name), *(each.geometry for each in operator.reads))


def _convolution(row: int, operator: LookedOperator, host_ns: int | None) -> _Found | None:
    """Along one axis, one step at a time; it took `host_ns`."""
    arguments, made = operator.arguments, operator.results[0].geometry if operator.results else None
    if arguments is None or made is None or len(operator.reads) < 2 or len(arguments) < 7:
        return None
    signal, kernel = (each.geometry for each in operator.reads[:2])
    if signal is None or kernel is None or {len(each.shape) for each in (signal, kernel, made)} != {3}:
        return None
    # behind input, weight and bias: stride, padding, dilation, groups, or: whether it is transposed, ..., groups
    stride, _, dilation, transposed = arguments[3:7]
    groups = arguments[-1] if len(arguments) == 9 else arguments[6]
    if len(arguments) == 7:
        transposed = False
    if stride != [1] or dilation != [1] or transposed is not False or type(groups) is not int:
        return None
    batch, channels, _ = signal.shape
    results, taps, length = kernel.shape[0], kernel.shape[-1], made.shape[-1]
    sizes = batch, channels, results, groups, taps, length
    times = algorithm_costs.convolution(*sizes)
    if host_ns:
        times = algorithm_costs.measured_convolution(host_ns, *sizes)
    shapes = f"{_channels(channels, results)}, {length:,} samples, {taps:,} taps"
    return _Found(Algorithm.CONVOLUTION, (row,), shapes, taps, times)


def _channels(given: int, made: int) -> str:
    """`1 channel`, `8 to 16 channels`."""
    return units.plural(given, "channel") if given == made else f"{given} to {made} channels"


def _is_outer(reads: Sequence[Taken], made: Geometry) -> bool:
    """Whether one side has a row for each place of the second last axis but one, the other of the one before it."""
    sides = []
    for each in reads:
        if each.geometry is None or len(each.geometry.shape) < 2:
            return False
        shape, strides = each.geometry.shape, each.geometry.strides
        padded, steps = (1, *shape), (0, *strides)
        if padded[-1] != made.shape[-1] or made.shape[-1] < 2:
            return False
        sides.append(tuple(size == 1 or not step for size, step in zip(padded[-3:-1], steps[-3:-1], strict=True)))
    return sorted(sides) == [(False, True), (True, False)] and min(made.shape[-3:-1]) > 1


def _over_last(reader: LookedOperator, dimensions: int) -> bool:
    given = reader.arguments
    if given is None:
        return False
    if own_name(reader.name) in _NORMS and (len(given) < 2 or given[1] not in (2, 2.0, 1, 1.0, "2", "2.0")):
        return False
    named_axes: list[Any] = [each for each in given if isinstance(each, list)]
    return bool(named_axes) and named_axes[0] in ([-1], [dimensions - 1])


def _is_squared(reader: LookedOperator) -> bool:
    """The operator that reads the differences: whether it does more than drop their signs."""
    given, name = reader.arguments, own_name(reader.name)
    return name != "abs" and not (name in _NORMS and given is not None and given[1] in (1, 1.0))


def _is_square(name: str, reader: LookedOperator) -> bool:
    if name == "mul":
        values = [taken.value for taken in reader.reads]
        return len(values) == 2 and values[0] == values[1] >= 0 and reader.reads[0].geometry == reader.reads[1].geometry
    if name == "pow":
        return reader.arguments is not None and len(reader.arguments) > 1 and reader.arguments[1] in (2, 2.0)
    return True


def _times(shape: Sequence[int]) -> str:
    return "×".join(f"{each:,}" for each in shape)


def _use(graph: ValueGraph, algorithm: Algorithm, found: Sequence[_Found], operators: Sequence[Any]) -> CostlyUse:
    lasted, table = graph.operators["duration_ns"], graph.operators
    largest = max(found, key=lambda each: int(lasted[list(each.rows)].sum()) * (1 - 1 / max(each.factor, 1.0)))
    saved_ns = sum(int(lasted[list(each.rows)].sum()) * max(1 - 1 / each.factor, 0.0) for each in found)
    forward = np.array(sorted({row for each in found for row in each.rows}), np.int64)
    forward_ns, whole_ns = int(lasted[forward].sum()), int(lasted.sum())
    places = [int(table["place"][row]) for row in largest.rows]
    behind = _backward(graph, forward, places, lasted)
    rows_ns = forward_ns + int(lasted[behind].sum())
    saved = saved_ns * rows_ns / forward_ns if forward_ns else 0.0
    return CostlyUse(
        algorithm=algorithm,
        places=tuple(dict.fromkeys(place for place in places if place >= 0)),
        operator=str(operators[largest.rows[0]].name),
        shapes=largest.shapes,
        size=largest.size,
        factor=largest.factor,
        count=len(found),
        rows=np.concatenate((forward, behind)),
        rows_ns=rows_ns,
        saved_ns=round(saved),
        share=saved / whole_ns if whole_ns else 0.0,
    )


def _backward(graph: ValueGraph, forward: Array, places: Sequence[int], lasted: Array) -> Array:
    """Operators of backward passes of these lines, where what runs forward there is hardly anything else."""
    table, found = graph.operators, [np.empty(0, np.int64)]
    for place in sorted(set(places) - {-1}):
        there = int(lasted[(table["place"] == place) & ~table["backward"]].sum())
        own = int(lasted[forward[table["place"][forward] == place]].sum())
        if own >= 0.9 * there:
            found.append(np.flatnonzero(table["backward"] & (table["forward_place"] == place)))
    return np.concatenate(found)
