"""Tables of weights in the close look of which rows are looked up, while their gradients are as large as the table."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.model.known_operators import BAG, LOOKUP
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# by the operator that looks rows up: what the recording shows of the node that makes the gradient
_NODES = {
    "embedding": LOOKUP,
    "_embedding_bag": BAG,
    "index": "IndexBackward0",
    "index_select": "IndexSelectBackward0",
}
# They need no gradient that is dense, or fill a table before it is trained.
_HARMLESS = frozenset(
    (
        *("_foreach_zero_", "copy_", "detach", "empty_like", "fill_", "normal_", "select", "_to_copy", "uniform_"),
        *("zero_", "zeros_like", "_amp_foreach_non_finite_check_and_unscale_", *_NODES),
    )
)
_MAX_MODE = 2


class Gradient(NamedTuple):
    """A node of a backward pass that makes one: how the recording names it, and the table's size, None where it is of
    something else."""

    node: str
    size: tuple[int, int] | None


@dataclass(frozen=True)
class LookedTable:
    """All tables of one size. `lookups`: the operators that look rows up, such as `embedding`.

    `filled`: rows that an iteration looks up in one of them, at most. `read_whole`: something besides the optimizer
    reads all of a table, with a graph, or all of its gradient. `parts`: by the names of the operators that the
    optimizers run on them, the tables' part of the elements of all their calls in steps, 0..1. `optimizers`: their
    classes. `places`: rows of the looked places, the lines that look up.
    """

    rows: int
    width: int
    lookups: tuple[str, ...]
    filled: float
    read_whole: bool
    parts: dict[str, float]
    optimizers: tuple[str, ...]
    places: tuple[int, ...]

    def makes(self, gradient: Gradient) -> bool:
        """Whether that gradient is of such a table."""
        return gradient.size == (self.rows, self.width)


@dataclass(frozen=True)
class LookedTables(Result):
    """`order`: the gradients of each iteration, in the order in which they are made; empty where iterations differ, or
    nothing is known. `tables`: those whose gradients could be sparse."""

    order: tuple[Gradient, ...]
    tables: tuple[LookedTable, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators whose nodes run in backward passes."""
        graph = results.get(ValueGraph)
        if not (graph.operators["optimizer"] >= 0).any():
            return cls((), ())
        seen = _SeenLookups(trace, graph)
        orders = {tuple(Gradient(_NODES[each.lookup], each.size) for each in found) for found in seen.iterations()}
        if len(orders) != 1:
            return cls((), ())
        by_size = defaultdict[tuple[int, int], list[_Lookup]](list)
        for each in seen.lookups:
            if each.size is not None:
                by_size[each.size].append(each)
        return cls(next(iter(orders)), tuple(seen.table(size, found) for size, found in by_size.items()))


class _Lookup(NamedTuple):
    """One whose node ran. `size` of the table, None where it is none, or its gradient cannot be sparse."""

    lookup: str
    size: tuple[int, int] | None
    storage: int
    indices: int
    iteration: int
    place: int


class _SeenLookups:
    """What the look shows of lookups and optimizers."""

    def __init__(self, trace: Trace, graph: ValueGraph):
        self._trace, self._graph = trace, graph
        operators, values, reads = graph.operators, graph.values, graph.reads
        self._own = [own_name(trace.names[name]) for name in operators["name"].tolist()]
        self._steps = operators["optimizer"] >= 0
        written = (values["made_by"] >= 0) & self._steps[np.maximum(values["made_by"], 0)]
        self._trained = set(values["storage"][written].tolist())
        self._shape = [_sizes(trace.names[each]) if each >= 0 else () for each in reads["shape"].tolist()]
        self.lookups = self._lookups()

    def iterations(self) -> list[list[_Lookup]]:
        """Those of each whole iteration in which optimizers stepped."""
        operators, look = self._graph.operators, self._trace.context.look
        stepped = set(operators["iteration"][self._steps].tolist()) - {-1}
        whole = {
            number
            for part in (look.each if look is not None else ())
            for number in range(part.first_iteration, part.first_iteration + part.iterations)
        }
        return [[each for each in self.lookups if each.iteration == number] for number in sorted(stepped & whole)]

    def table(self, size: tuple[int, int], found: list[_Lookup]) -> LookedTable:
        """All of one size; other weights may have it, too."""
        indices = defaultdict[tuple[int, int], int](int)
        for each in found:
            indices[each.storage, each.iteration] += each.indices
        storages = {each.storage for each in found}
        operators, reads = self._graph.operators, self._graph.reads
        mine = np.array([shape == size for shape in self._shape], bool)
        rows = reads["operator"]
        weights = mine & self._steps[rows] & reads["grad"] & (reads["value"] >= 0)
        alike = set(self._graph.values["storage"][reads["value"][weights]].tolist()) | storages
        in_steps, named = self._steps[rows], operators["name"][rows]
        updating, overloads = rows[mine & in_steps], defaultdict[str, list[int]](list)
        for name in np.unique(operators["name"][updating]).tolist():
            overloads[self._trace.names[name].partition(".")[0]].append(name)
        parts = {}
        for name, same in overloads.items():
            ours = in_steps & np.isin(named, same)
            of_size, of_all = (int(reads["elements"][each].sum()) for each in (ours & mine, ours))
            parts[name] = of_size / of_all * len(storages) / len(alike)
        classes = {self._trace.names[each] for each in operators["optimizer"][updating].tolist()}
        return LookedTable(
            *size,
            tuple(sorted({each.lookup for each in found})),
            filled=float(max(indices.values())),
            read_whole=self._read_whole(mine & ~self._steps[rows], storages),
            parts=parts,
            optimizers=tuple(sorted(classes)),
            places=tuple(dict.fromkeys(each.place for each in found if each.place >= 0)),
        )

    def _read_whole(self, mine: Array, storages: set[int]) -> bool:
        operators, reads, values = self._graph.operators, self._graph.reads, self._graph.values
        for row in np.flatnonzero(mine & (reads["value"] >= 0)).tolist():
            operator = int(reads["operator"][row])
            if operators["backward"][operator] or self._own[operator] in _HARMLESS:
                continue
            # what autograd does not follow may be the gradient
            of_table = int(values["storage"][reads["value"][row]]) in storages
            if operators["graph"][operator] if of_table else not reads["grad"][row]:
                return True
        return False

    def _lookups(self) -> list[_Lookup]:
        operators = self._graph.operators
        forward = operators["forward_operator"]
        ran = np.flatnonzero(operators["backward"] & (forward >= 0) & (forward < len(operators)))
        known = dict[int, int]()
        for row in ran.tolist():
            known.setdefault(int(forward[row]), int(operators["iteration"][row]))
        return [self._lookup(row, iteration) for row, iteration in known.items() if self._own[row] in _NODES]

    def _lookup(self, row: int, iteration: int) -> _Lookup:
        graph, name = self._graph, self._own[row]
        reads, place = graph.inputs.of(row).tolist(), int(graph.operators["place"][row])
        none = _Lookup(name, None, -1, 0, iteration, place)
        made = graph.outputs.of(row).tolist()
        if len(reads) < 2 or not made or graph.reads["value"][reads[0]] < 0:
            return none
        storage = int(graph.values["storage"][graph.reads["value"][reads[0]]])
        size, shape = self._shape[reads[0]], self._shape[reads[1]]
        if len(size) != 2 or not size[0] or storage not in self._trained or not self._can_be_sparse(name, row):
            return none
        result = _sizes(self._trace.names[int(graph.results["shape"][made[0]])])
        of_rows = len(reads) == 2 and result == (*shape, size[1])
        if name in ("index", "index_select") and not (of_rows and self._is_integer(reads[1])):
            return none
        return _Lookup(name, (size[0], size[1]), storage, int(graph.reads["elements"][reads[1]]), iteration, place)

    def _is_integer(self, read: int) -> bool:
        value = int(self._graph.reads["value"][read])
        dtype = int(self._graph.values["dtype"][value]) if value >= 0 else -1
        return dtype >= 0 and self._trace.names[dtype].startswith("int")

    def _can_be_sparse(self, name: str, row: int) -> bool:
        text = int(self._graph.operators["arguments"][row])
        given = json.loads(self._trace.names[text]) if text >= 0 else []
        if name == "embedding":
            return len(given) >= 5 and given[3] is False and given[4] is False
        if name == "_embedding_bag":
            return len(given) >= 6 and given[3] is False and given[4] != _MAX_MODE and given[5] is False
        return True


@lru_cache(maxsize=4096)
def _sizes(shape: str) -> tuple[int, ...]:
    parts = [each.strip() for each in shape.strip("[]").split(",")]
    return tuple(int(each) for each in parts if each.isdigit())
