"""Values that are converted to another type, device or layout, and back, with nothing computed in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import CONVERSIONS, named
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# Types that hold every number of the first: back from them is what it was.
_HOLDS = {
    "float16": ("float32", "float64"),
    "bfloat16": ("float32", "float64"),
    "float32": ("float64",),
    "complex64": ("complex128",),
    "bool": ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
    "uint8": ("int16", "int32", "int64", "float16", "float32", "float64"),
    "int8": ("int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
    "int16": ("int32", "int64", "float32", "float64"),
    "int32": ("int64", "float64"),
}
# What is brought back from another device only after that many operators was put there to make room.
_SOON = 50
# Fewer numbers may be equal by chance where only their content joins them.
_LEAST_ELEMENTS = 1024


@dataclass(frozen=True)
class Trip:
    """All trips between two places by one way. `through`: what the value was meanwhile, `home`: before and after, such
    as `float64` and `float32`, `cpu` and `cuda:0`; equal where only the order in memory changed.

    `out` and `back`: rows of the looked places of both conversions. `needless_ns`: of the conversions back, and of
    those out whose result nothing else reads. `share`: of the time of all operators, 0..1. `each_bytes`: the most that
    one conversion back copied.
    """

    home: str
    through: str
    out: int
    back: int
    count: int
    needless_ns: int
    share: float
    each_bytes: int


@dataclass(frozen=True)
class ConversionTrips(Result):
    """`trips`: most time first. `share`: of all of them, of the time of all operators, 0..1. `needless`: rows of
    `looked_operators` that need not have run."""

    trips: tuple[Trip, ...]
    share: float
    needless: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From conversions that read the result of a conversion."""
        graph = results.get(ValueGraph)
        moves = _moves(trace, graph)
        content = results.get(ValueNumbers).content
        pairs = [
            (out, back)
            for back in moves.values()
            if (out := _before(graph, content, moves, back)) is not None and _returns(trace, graph, content, out, back)
        ]
        whole = int(graph.operators["duration_ns"].sum())
        returning = {back.operator for _, back in pairs}
        needless = returning | {out.operator for out, _ in pairs if _only_for(graph, out, returning)}
        found = _by_way(trace, graph, pairs, needless, whole)
        return cls(found, sum(each.share for each in found), np.array(sorted(needless), np.int64))


@dataclass(frozen=True)
class _Move:
    """One conversion: the operator, and rows of what it reads and makes in `reads` and `results`, with their values."""

    operator: int
    read: int
    made: int
    source: int
    result: int


def _moves(trace: Trace, graph: ValueGraph) -> dict[int, _Move]:
    """By operator."""
    found = {}
    for operator in np.flatnonzero(named(trace, graph.operators, CONVERSIONS) & graph.making).tolist():
        reads = graph.inputs.of(operator).tolist()
        made = [row for row in graph.outputs.of(operator).tolist() if graph.new[row]]
        source = int(graph.reads["value"][reads[-1]]) if reads else -1
        if len(made) == 1 and source >= 0:
            found[operator] = _Move(operator, reads[-1], made[0], source, int(graph.results["value"][made[0]]))
    return found


def _before(graph: ValueGraph, content: Array, moves: dict[int, _Move], back: _Move) -> _Move | None:
    """The conversion that made what this one reads; also where numpy handed it on without a change."""
    maker = int(graph.values["made_by"][back.source])
    if maker >= 0:
        return moves.get(maker)
    if not graph.values["fingerprint"][back.source] or graph.reads["elements"][back.read] < _LEAST_ELEMENTS:
        return None
    same = np.flatnonzero((content == content[back.source]) & graph.values["read_outside"])
    makers = [int(each) for each in graph.values["made_by"][same] if 0 <= each < back.operator]
    return moves.get(max(makers)) if makers else None


def _returns(trace: Trace, graph: ValueGraph, content: Array, out: _Move, back: _Move) -> bool:
    """Whether what comes back is what left, and no room was made meanwhile."""
    values, operators = graph.values, graph.operators
    kept = ("dtype", "device")
    if any(values[name][back.result] != values[name][out.source] for name in kept):
        return False
    if graph.reads["shape"][out.read] != graph.results["shape"][back.made]:
        return False
    if operators["backward"][out.operator] != operators["backward"][back.operator]:
        return False
    equal = content[out.source] == content[back.result] >= 0
    moved = values["device"][out.result] != values["device"][out.source]
    if moved and back.operator - out.operator > _SOON:
        return False
    home, through = (trace.names[values["dtype"][value]] for value in (out.source, out.result))
    if home != through:
        return bool(equal or through in _HOLDS.get(home, ()))
    relaid = graph.reads["view"][out.read] != graph.results["view"][out.made]
    return bool(moved or (equal and relaid))


def _by_way(
    trace: Trace, graph: ValueGraph, pairs: list[tuple[_Move, _Move]], needless: set[int], whole_ns: int
) -> tuple[Trip, ...]:
    lasted, values = graph.operators["duration_ns"], graph.values
    ways: dict[tuple[str, str, int, int], list[tuple[_Move, _Move]]] = {}
    for out, back in pairs:
        home, through = _words(trace, graph, out)
        ways.setdefault((home, through, _place(graph, out), _place(graph, back)), []).append((out, back))
    found = []
    for (home, through, left, came), members in ways.items():
        own = {each.operator for pair in members for each in pair} & needless
        spent = int(lasted[sorted(own)].sum())
        most = max(int(values["bytes"][back.result]) for _, back in members)
        share = spent / whole_ns if whole_ns else 0.0
        found.append(Trip(home, through, left, came, len(members), spent, share, most))
    return tuple(sorted(found, key=lambda trip: -trip.needless_ns))


def _words(trace: Trace, graph: ValueGraph, out: _Move) -> tuple[str, str]:
    """What differs: the type, else the device; the type twice where only the layout does."""
    for name in ("dtype", "device"):
        home, through = (trace.names[graph.values[name][value]] for value in (out.source, out.result))
        if home != through:
            return home, through
    return (trace.names[graph.values["dtype"][out.source]],) * 2


def _only_for(graph: ValueGraph, out: _Move, returning: set[int]) -> bool:
    readers = graph.reads["operator"][graph.readers.of(out.result)].tolist()
    needed = [each for each in readers if not graph.view[each] and each not in returning]
    return not needed and not graph.values["read_outside"][out.result]


def _place(graph: ValueGraph, move: _Move) -> int:
    forward = int(graph.operators["forward_place"][move.operator])
    return forward if forward >= 0 else int(graph.operators["place"][move.operator])
