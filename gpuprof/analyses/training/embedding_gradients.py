"""Gradients of embedding tables that are as large as the table, whatever few rows were looked up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, inputs_of, shapes_of, values_of
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.training.looked_gradients import RecordedTable, recorded_tables
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.known_operators import BAG, DENSE_BACKWARDS
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# what only the look knows to be of a table
_INDEXED = frozenset({"IndexBackward0", "IndexSelectBackward0"})
_LOOKED_UP = DENSE_BACKWARDS | _INDEXED
_ACCUMULATED = "torch::autograd::AccumulateGrad"
_ADDED = frozenset({"aten::add_", "aten::add"})
# The largest of a bag has no sparse gradient.
_MAX_MODE = "2"
# They need no gradient that is dense, or fill a table before it is trained.
_HARMLESS = {_ACCUMULATED} | frozenset(
    f"aten::{name}"
    for name in (
        *("_embedding_bag", "_foreach_zero_", "copy_", "detach", "embedding", "embedding_bag", "empty_like", "fill_"),
        *("index_select", "normal_", "select", "to", "uniform_", "zero_", "zeros_like"),
        "_amp_foreach_non_finite_check_and_unscale_",
    )
)


@dataclass(frozen=True, eq=False)
class DenseTables:
    """All tables of one size that are given dense gradients where sparse ones are possible.

    `backwards`: rows of `operators` that make the gradients, `(n,)`. `filled`: rows of a table that its gradient has
    numbers for when the optimizer takes it, at most, on average. `updates`: rows of the outermost operators in
    optimizer steps that take such a table, `(m,)`; `parts`: the tables' part of the elements of each, 0..1. `reads`:
    start in ns of each other operator that takes all of a table or of its gradient (an output layer that shares it,
    clipping, a norm), in order. `optimizers`: the classes that update them; `operators`: the names of what they run on
    them.

    Where the close look tells the size: `lookups` are the operators that look rows up (`index` where a parameter is
    indexed), and `read_whole` says whether something else takes all of a table or gradient, without `reads`.
    """

    rows: int
    width: int
    backwards: Array
    filled: float
    updates: Array
    parts: Array
    reads: Array
    optimizers: tuple[str, ...]
    operators: frozenset[str]
    lookups: tuple[str, ...] = ("embedding",)
    read_whole: bool = False


@dataclass(frozen=True, eq=False)
class EmbeddingGradients(Result):
    """`backwards`: rows of `operators` that make dense gradients of tables, `(n,)`. `known`: the tables' sizes were
    recorded for all of them, or the close look tells them. `tables`: those that could be sparse.

    `operator`: all rows of `operators` in `backwards` and in the tables' `updates`, ascending; of that shape are
    `start_ns`, `duration_ns` and `thread` of each.
    """

    backwards: Array
    known: bool
    tables: tuple[DenseTables, ...]
    operator: Array
    start_ns: Array
    duration_ns: Array
    thread: Array

    def times(self, rows: Array) -> Intervals:
        """When these rows of `operators` ran, of shape `(len(rows),)`; each must be one of `operator`."""
        place = np.searchsorted(self.operator, rows)
        return Intervals(self.start_ns[place], self.start_ns[place] + self.duration_ns[place])

    def launched_in(self, kernels: KernelOrigins, rows: Array) -> Array:
        """Boolean mask over the kernels: launched by these rows of `operator`, or by what they call."""
        mask, times = np.zeros(kernels.count, bool), self.times(rows)
        threads = self.thread[np.searchsorted(self.operator, rows)]
        for thread in np.unique(threads).tolist():
            ours = intervals.union(Intervals(times.starts[threads == thread], times.ends[threads == thread]))
            mask |= intervals.contains(ours, kernels.issued_ns) & (kernels.issued_on == thread)
        return mask

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the shapes and numbers that the operators of the backward pass are given, else from the close look."""
        backwards = np.flatnonzero(_named(trace, trace.operators, DENSE_BACKWARDS))
        gradients = [_gradient(trace, row) for row in backwards.tolist()]
        by_size: dict[Shape, list[int]] = {}
        for place, gradient in enumerate(gradients):
            if gradient is not None and gradient.can_be_sparse:
                by_size.setdefault(gradient.size, []).append(place)
        tables = []
        if by_size:
            takers, begun = _Takers.of(trace, results), _begun(trace, results)
            for size, places in by_size.items():
                indices = sum(each.indices for place in places if (each := gradients[place]) is not None)
                filled = indices / (begun.count(size) or len(places))
                tables.append(takers.tables(trace, size, backwards[places], filled))
        known = all(each is not None for each in gradients)
        looked = [_looked(each) for each in recorded_tables(trace, results, _INDEXED if known else _LOOKED_UP)]
        if looked:
            tables, known = [*(tables if known else ()), *looked], True
            backwards = np.unique(np.concatenate([backwards, *(each.backwards for each in looked)]))
        rows = np.unique(np.concatenate([backwards, *(each.updates for each in tables)]))
        host = (trace.operators[name][rows] for name in ("start_ns", "duration_ns", "thread"))
        return cls(backwards, known, tuple(tables), rows, *host)


def _looked(found: RecordedTable) -> DenseTables:
    return DenseTables(
        rows=found.table.rows,
        width=found.table.width,
        backwards=found.backwards,
        filled=found.table.filled,
        updates=found.updates,
        parts=found.parts,
        reads=np.zeros(0, np.int64),
        optimizers=found.table.optimizers,
        operators=frozenset(found.table.parts),
        lookups=found.table.lookups,
        read_whole=found.table.read_whole,
    )


@dataclass(frozen=True)
class _Gradient:
    """Of a table of this size for that many indices."""

    size: Shape
    indices: int
    can_be_sparse: bool


def _gradient(trace: Trace, row: int) -> _Gradient | None:
    """None where the size was not recorded."""
    inputs, values = inputs_of(trace, row), values_of(trace, row)
    bag = trace.names[trace.operators["name"][row]] == BAG
    if len(inputs) < 2 or not inputs[0].dims or len(values) < (8 if bag else 5):
        return None
    rows, by_frequency = (values[5], values[6]) if bag else (values[2], values[4])
    if not rows.isdecimal() or not int(rows):
        return None
    sparse = by_frequency != "True" and not (bag and values[7] == _MAX_MODE)
    return _Gradient((int(rows), inputs[0].dims[-1]), inputs[1].elements, sparse)


def _begun(trace: Trace, results: Results) -> list[Shape]:
    """The size of each gradient that reaches its weight and is not added to one that is there."""
    operators = trace.operators
    rows = np.flatnonzero(_named(trace, operators, {_ACCUMULATED}))
    added = np.unique(operators["parent"][_named(trace, operators, _ADDED)])
    fresh, steps = np.setdiff1d(rows, added), sum(use.count for use in results.get(OptimizerSteps).uses)
    # hardly any is new where `zero_grad` keeps them all: then each is taken for the first of its step
    rows = fresh if 2 * len(fresh) >= steps else rows
    return [shapes[0] if (shapes := shapes_of(trace, row)) else () for row in rows.tolist()]


@dataclass(frozen=True, eq=False)
class _Takers:
    """The outermost operators of the main thread that take tensors: `rows` of `operators`, `shapes` of all tensors
    that each takes, by `place`; `use`: in a step of the optimizer class of that number, -1 in none."""

    rows: Array
    place: Array
    shapes: list[tuple[Shape, ...]]
    use: Array
    classes: list[str]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        operators = trace.operators
        top = (operators["thread"] == trace.main_thread) & (operators["parent"] < 0) & (operators["input_dims"] >= 0)
        rows = np.flatnonzero(top)
        _, first, place = np.unique(operators["input_dims"][rows], return_index=True, return_inverse=True)
        use = np.full(len(rows), -1)
        steps = results.get(OptimizerSteps).uses
        for number, each in enumerate(steps):
            ranges = intervals.union(Intervals(each.start_ns, each.start_ns + each.duration_ns))
            use[intervals.contains(ranges, operators["start_ns"][rows])] = number
        shapes = [shapes_of(trace, row) for row in rows[first].tolist()]
        return cls(rows, place.reshape(-1), shapes, use, [each.name for each in steps])

    def tables(self, trace: Trace, size: Shape, backwards: Array, filled: float) -> DenseTables:
        """What takes tensors of that size."""
        part_of = np.array([_part(shapes, size) for shapes in self.shapes])
        parts = part_of[self.place] if len(self.place) else np.zeros(0)
        updating = (parts > 0) & (self.use >= 0)
        taken = trace.operators.take(self.rows)
        reading = (parts > 0) & (self.use < 0) & ~_named(trace, taken, _HARMLESS)
        return DenseTables(
            rows=size[0],
            width=size[1],
            backwards=backwards,
            filled=filled,
            updates=self.rows[updating],
            parts=parts[updating],
            reads=taken["start_ns"][reading],
            optimizers=tuple(self.classes[number] for number in np.unique(self.use[updating])),
            operators=frozenset(trace.names_of(taken.take(updating)).tolist()),
        )


def _part(shapes: tuple[Shape, ...], size: Shape) -> float:
    """Which part of all elements is in tensors of that size."""
    whole = sum(prod(shape) for shape in shapes)
    return shapes.count(size) * prod(size) / whole if whole else 0.0


def _named(trace: Trace, table: Table, names: Collection[str]) -> Array:
    """Boolean mask of shape `(len(table),)`: rows of one of these names."""
    hit = np.fromiter((name in names for name in trace.names), bool, len(trace.names))
    return hit[table["name"]] if len(table) else np.zeros(0, bool)
