"""Whether a turn of a loop needs what an earlier turn made: by values, and by way of Python."""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuprof.analyses.dataflow.operator_traits import named, own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.turns.turns import LoopRun, TurnLoop
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# What collects results turn by turn, and could collect them all at once; what is mixed is a recurrence.
_COLLECTING = {
    **dict.fromkeys(("add", "add_", "sub", "sub_", "_foreach_add_", "index_add_", "scatter_add_"), "sum"),
    **dict.fromkeys(("maximum", "fmax", "logical_or", "logical_or_"), "most"),
    **dict.fromkeys(("minimum", "fmin", "logical_and", "logical_and_"), "least"),
    **dict.fromkeys(("cat", "hstack", "vstack"), "joined"),
    "bitwise_and": "both",
    "bitwise_or": "either",
    "__and__": "both",
    "__or__": "either",
    "logaddexp": "logs",
}
# What puts a result into a part of a tensor whose other elements stay.
_OVERWRITING = frozenset(
    ("copy_", "fill_", "zero_", "index_put_", "_index_put_impl_", "index_copy_", "index_fill_", "scatter_")
)
# What tells Python the content of a tensor.
_TOLD = frozenset(("_local_scalar_dense", "item", "is_nonzero", "equal", "allclose"))


def needs_earlier_turns(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> bool:
    """Whether a turn may need what an earlier one of the same run made, other than to add it up or to join it."""
    told = _told(trace, graph) & (loop.turn >= 0)
    if told.any() and _by_way_of_python(trace, graph, loop):
        return True
    # what Python has decided may show only in turns that are not alike
    turn, run = (loop.around, np.where(loop.around >= 0, 0, -1)) if told.any() else (loop.turn, loop.run)
    return _Carried(trace, graph, turn, run).any()


def needs_only_python(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> bool:
    """Whether no operator reads what one of an earlier turn made, but Python reads results, so that one may come back
    in a later turn: as a number, or in memory that Python has written to."""
    told = _told(trace, graph) & (loop.turn >= 0)
    return bool(told.any()) and not _Carried(trace, graph, loop.turn, loop.run, by_python=False).any()


def other_begin(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> int:
    """How many operators later turns can begin so that no value goes from one to the next, if possible not even those
    that are collected or overwritten; 0 where there is no such place. A look may have begun in the middle of a turn.
    """
    reader, value = graph.reads["operator"], graph.reads["value"]
    names = [own_name(name) for name in trace.names]
    beside = np.array([name in _COLLECTING or name in _OVERWRITING for name in names], bool)
    chosen = np.flatnonzero((value >= 0) & (loop.turn[reader] >= 0) & ~graph.view[reader])
    maker = graph.values["made_by"][value[chosen]]
    chosen, maker = chosen[maker >= 0], maker[maker >= 0]
    inside = loop.run[maker] == loop.run[reader[chosen]]
    reader, maker = reader[chosen][inside], maker[inside]
    strict = _free_begin(loop, reader, maker)
    if strict:
        return strict
    # what one that collects is given to collect it does need
    names_of = graph.operators["name"]
    needed = ~(beside[names_of[reader]] & beside[names_of[maker]])
    return _free_begin(loop, reader[needed], maker[needed])


def _free_begin(loop: TurnLoop, reader: Array, maker: Array) -> int:
    """The first place in a turn that lies between no maker and its reader; 0 where there is none."""
    run = loop.runs[0]
    length = int((run.ends - run.starts)[run.usual][0])
    if (reader - maker >= length).any():
        return 0
    starts = np.concatenate([each.starts for each in loop.runs])
    # a turn that is not usual may be longer
    phase = np.minimum(maker - starts[np.searchsorted(starts, maker, side="right") - 1] + 1, length)
    steps = np.bincount(phase, minlength=2 * length + 1) - np.bincount(phase + reader - maker, minlength=2 * length + 1)
    covered = np.cumsum(steps)[: 2 * length]
    free = np.flatnonzero(covered[:length] + covered[length:] == 0)
    return int(free[0]) if len(free) else 0


def _told(trace: Trace, graph: ValueGraph) -> Array:
    """Operators whose result Python knows, or may know."""
    found = named(trace, graph.operators, _TOLD)
    makers = graph.values["made_by"][graph.values["read_outside"]]
    found[makers[makers >= 0]] = True
    return found


@dataclass
class _Carried:
    """Values that go from turn to turn. `turn` and `run`: by operator, -1 outside. `by_python`: also what was changed
    without an operator."""

    trace: Trace
    graph: ValueGraph
    turn: Array
    run: Array
    by_python: bool = True

    def __post_init__(self) -> None:
        self.kinds = [_COLLECTING.get(own_name(name)) for name in self.trace.names]
        self.overwrites = [own_name(name) in _OVERWRITING for name in self.trace.names]
        self.name = self.graph.operators["name"].tolist()
        self.made_by = self.graph.values["made_by"]
        self.regions = _Regions(self.trace, self.graph)
        self.collected: set[int] = set()
        self.replaced = self._replaced()

    def _replaced(self) -> Array:
        """By row of `reads`, bool: what the operator only overwrites, and so does not need. Of one that overwrites all
        of a tensor, that tensor is no read."""
        storage, result = self.graph.values["storage"], self.graph.results
        written = np.full(len(self.graph.operators), -1, np.int64)
        known = np.flatnonzero((result["value"] >= 0) & (result["position"] == 0))
        written[result["operator"][known]] = storage[result["value"][known]]
        reader, value = self.graph.reads["operator"], self.graph.reads["value"]
        overwrites = np.array(self.overwrites, bool)[self.graph.operators["name"][reader]]
        first = overwrites & (self.graph.reads["position"] == 0) & (value >= 0)
        first[first] = written[reader[first]] == storage[value[first]]
        found: Array = first
        return found

    def any(self) -> bool:
        """Whether a turn reads one other than to collect it."""
        queue = sorted(set(self._readers()))
        done = set()
        while queue:
            operator = heapq.heappop(queue)
            if operator in done:
                continue
            done.add(operator)
            carried = [row for row in self.graph.inputs.of(operator).tolist() if self._carries(row)]
            if not carried:
                continue
            if not self._allowed(operator, carried):
                return True
            for row in self.graph.outputs.of(operator).tolist():
                value = int(self.graph.results["value"][row])
                if value < 0:
                    continue
                self.collected.add(value)
                for reader in self.graph.reads["operator"][self.graph.readers.of(value)].tolist():
                    if reader > operator and not self.graph.view[reader] and self.turn[reader] == self.turn[operator]:
                        heapq.heappush(queue, reader)
        return False

    def _readers(self) -> list[int]:
        """Operators that read a value of an earlier turn of their run, views left out."""
        reader, value = self.graph.reads["operator"], self.graph.reads["value"]
        known = (value >= 0) & (self.run[reader] >= 0) & ~self.graph.view[reader] & ~self.replaced
        maker = np.where(known, self.made_by[value], -1)
        carried = known & (maker >= 0) & (self.run[maker] == self.run[reader]) & (self.turn[maker] < self.turn[reader])
        # changed in between without an operator
        unseen = known & (maker < 0) & self.regions.changed[value] & self.by_python
        found: list[int] = reader[carried | unseen].tolist()
        return found

    def _carries(self, row: int) -> bool:
        operator, value = int(self.graph.reads["operator"][row]), int(self.graph.reads["value"][row])
        if value < 0 or self.replaced[row]:
            return False
        if value in self.collected:
            return True
        maker = self.regions.maker(row, self.run)
        if maker < 0:
            return bool(self.by_python and maker == _UNSEEN and self.regions.read_before(value, operator, self.turn))
        return bool(self.run[maker] == self.run[operator] and self.turn[maker] < self.turn[operator])

    def _allowed(self, operator: int, carried: list[int]) -> bool:
        """Whether it only adds to what it reads, or joins it."""
        own = self.name[operator]
        kind = self.kinds[own]
        if kind is None or len(carried) > 1:
            return False
        if own_name(self.trace.names[own]).startswith("sub") and self.graph.reads["position"][carried[0]]:
            return False
        value = int(self.graph.reads["value"][carried[0]])
        if kind == "sum" and self.graph.values["kind"][value] == ValueKind.GRADIENT:
            return True
        maker = int(self.made_by[value])
        return maker >= 0 and self.kinds[self.name[maker]] == kind


_UNSEEN = -2


class _Regions:
    """Which operator wrote what is read, where only parts of a tensor are written and read."""

    def __init__(self, trace: Trace, graph: ValueGraph) -> None:
        self.graph, self.names = graph, trace.names
        storage = graph.values["storage"]
        order = np.argsort(storage, kind="stable")
        again = np.zeros(len(order), bool)
        again[1:] = storage[order][1:] == storage[order][:-1]
        self.before = np.full(len(storage), -1, np.int64)
        self.before[order[1:][again[1:]]] = order[:-1][again[1:]]
        # a content without an operator, of a storage that had another one
        self.changed = (self.before >= 0) & (graph.values["made_by"] < 0)
        rows = np.flatnonzero(graph.new)
        self.written = dict(zip(graph.results["value"][rows].tolist(), rows.tolist(), strict=True))

    def maker(self, row: int, run: Array) -> int:
        """The last operator that wrote to any element that this row of `reads` takes; -1 for none, -2 for unseen.

        What was written outside of all runs is as good as what was there.
        """
        value = int(self.graph.reads["value"][row])
        taken = self._span(self.graph.reads, row)
        while value >= 0:
            maker = int(self.graph.values["made_by"][value])
            if maker < 0:
                return _UNSEEN if self.changed[value] else -1
            result = self.written.get(value)
            if result is None or not self.graph.operators["writes"][maker] or run[maker] < 0:
                return maker
            span = self._span(self.graph.results, result)
            if span is None or taken is None or (span[0] < taken[1] and taken[0] < span[1]):
                return maker
            value = int(self.before[value])
        return -1

    def read_before(self, value: int, operator: int, turn: Array) -> bool:
        """Whether an earlier turn saw the content before this one."""
        earlier = int(self.before[value])
        readers = self.graph.reads["operator"][self.graph.readers.of(earlier)]
        return bool((turn[readers] < turn[operator]).any())

    def _span(self, table: Any, row: int) -> tuple[int, int] | None:
        """From the first element to behind the last one; None where it is not known."""
        geometry, shape = int(table["geometry"][row]), int(table["shape"][row])
        if geometry < 0 or shape < 0:
            return None
        offset, _, strides = self.names[geometry].partition(" ")
        steps = [int(each) for each in strides.strip("()").split(",") if each.strip()]
        sizes = json.loads(self.names[shape])
        begin = int(offset)
        if len(steps) != len(sizes) or 0 in sizes:
            return None
        return begin, begin + 1 + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))


def _by_way_of_python(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> bool:
    """Whether what Python reads in a turn may come back in a later one: as a new tensor, a number, or a choice."""
    inside = loop.turn >= 0
    if graph.operators["random"][inside].any() or _new_from_outside(graph, loop):
        return True
    return any(_numbers_vary(trace, graph, run) for run in loop.runs)


def _new_from_outside(graph: ValueGraph, loop: TurnLoop) -> bool:
    """Whether turns read tensors that no operator made and that no other turn reads."""
    reader, value = graph.reads["operator"], graph.reads["value"]
    outside = np.flatnonzero((value >= 0) & (loop.turn[reader] >= 0))
    outside = outside[graph.values["made_by"][value[outside]] < 0]
    pairs = np.unique(np.stack((value[outside], loop.turn[reader[outside]])), axis=1)
    _, readers = np.unique(pairs[0], return_counts=True)
    return bool((readers == 1).any())


def _numbers_vary(trace: Trace, graph: ValueGraph, run: LoopRun) -> bool:
    """Whether arguments that are no tensors change from turn to turn in another way than a counter does."""
    starts, scalars, arguments = run.starts[run.usual], graph.operators["scalars"], graph.operators["arguments"]
    number = np.flatnonzero(run.usual)
    for offset in range(int((run.ends - run.starts)[run.usual][0])):
        rows = starts + offset
        if (scalars[rows] == scalars[rows[0]]).all():
            continue
        texts = [trace.names[each] if each >= 0 else "" for each in arguments[rows].tolist()]
        if not _counts(texts, number):
            return True
    return False


def _counts(texts: list[str], number: Array) -> bool:
    """Whether all whole numbers in them grow evenly with the number of the turn."""
    found = [_integers(text) for text in texts]
    if len({(len(each), rest) for each, rest in found}) != 1 or not found[0][0]:
        return False
    table = np.array([each for each, _ in found], np.float64)
    change = np.diff(table, axis=0) / np.diff(number)[:, None]
    return bool(np.allclose(change, change[0])) and bool(change[0].any())


def _integers(text: str) -> tuple[tuple[int, ...], str]:
    """The whole numbers in a text of JSON, and all else."""
    numbers: list[int] = []

    def walk(each: Any) -> Any:
        if isinstance(each, int) and not isinstance(each, bool):
            numbers.append(each)
            return 0
        return [walk(part) for part in each] if isinstance(each, list) else each

    try:
        rest = json.dumps(walk(json.loads(text)))
    except ValueError:
        return (), text
    return tuple(numbers), rest
