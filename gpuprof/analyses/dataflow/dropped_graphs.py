"""Graphs that autograd records in the close look and that are freed before a backward pass runs through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import named
from gpuprof.analyses.dataflow.value_graph import ValueGraph, any_of
from gpuprof.analyses.memory.kept_memory import DeviceKept, memory_of
from gpuprof.model.kinds import NodeFate
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a backward pass may hand the gradient through their nodes without an operator that would show it
_HANDED_ON = frozenset(
    (
        *("add", "add_", "sub", "sub_", "rsub", "clone", "alias", "expand", "view", "_to_copy", "contiguous"),
        *("_unsafe_view", "squeeze", "unsqueeze", "t", "transpose", "permute", "slice", "select"),
    )
)


@dataclass(frozen=True, eq=False)
class DroppedGraphs(Result):
    """Operators that autograd records belong to one graph where one reads what the other made. A graph is dropped where
    nodes of it were freed in the look, none was there at its end, and no operator of a backward pass ran for any of
    them; and where no graph that its lines made in the same look was used.

    `count` of such graphs; `rows` of looked_operators: those with a node in them, in order. `places`: rows of the
    looked places, the lines that called their modules, most time first. `share`: of the time of all operators, 0..1.
    `kept_bytes` by device (`cpu`, `cuda:0`): by how much less memory their results, and what else they read, would take
    at most if each were freed after it was read for the last time; the names of a program may keep some of it all the
    same. `kept_share`: that of the highest sum of all that was made meanwhile, 0..1. `memory`: how that of these
    devices moved in the cell. Nothing is dropped where the look does not tell (`known` False).
    """

    known: bool
    count: int
    rows: Array
    places: tuple[int, ...]
    share: float
    kept_bytes: dict[str, int]
    kept_share: dict[str, float]
    memory: tuple[DeviceKept, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what became of the nodes."""
        graph = results.get(ValueGraph)
        operators = graph.operators
        count, recorded, fate = len(operators), operators["graph"], operators["node"]
        if not (fate != NodeFate.UNKNOWN).any():
            return cls(False, 0, np.empty(0, np.int64), (), 0.0, {}, {}, ())
        part = _components(graph)
        forward = operators["forward_operator"]
        forward = forward[(forward >= 0) & (forward < count)]
        ran = np.zeros(count, bool)
        ran[forward] = True
        shown = (fate == NodeFate.FREED) & ~named(trace, operators, _HANDED_ON)
        used = any_of(part, ran, count)
        dropped = any_of(part, recorded & shown, count) & ~any_of(part, fate == NodeFate.KEPT, count) & ~used
        called, look = operators["called_at"].astype(np.int64), operators["look"].astype(np.int64)
        line = called << 8 | look
        also_used = np.isin(line, line[recorded & used[part]])
        dropped &= ~any_of(part, recorded & also_used, count)
        rows = np.flatnonzero(recorded & dropped[part])
        lasted = operators["duration_ns"]
        spent = np.bincount(called[rows][called[rows] >= 0], lasted[rows][called[rows] >= 0])
        order = np.argsort(-spent, kind="stable")
        total, kept = lasted.sum(), _kept_bytes(trace, graph, rows)
        return cls(
            known=True,
            count=len(np.unique(part[rows])),
            rows=rows,
            places=tuple(each for each in order.tolist() if spent[each] > 0),
            share=float(lasted[rows].sum() / total) if total else 0.0,
            kept_bytes={device: each for device, (each, _) in kept.items()},
            kept_share={device: each / most for device, (each, most) in kept.items()},
            memory=tuple(memory_of(trace, results, device) for device in kept),
        )


def _components(graph: ValueGraph) -> Array:
    """By operator the number of its graph: the first operator of it."""
    operators, reads = graph.operators, graph.reads
    recorded, maker = operators["graph"], graph.values["made_by"]
    first = np.arange(len(operators))
    followed = reads["grad"] & (reads["value"] >= 0) & recorded[reads["operator"]]
    before = maker[reads["value"][followed]]
    pairs = zip(reads["operator"][followed].tolist(), before.tolist(), strict=True)

    def root(row: int) -> int:
        while first[row] != row:
            first[row] = first[first[row]]
            row = int(first[row])
        return row

    for reader, made_by in pairs:
        if 0 <= made_by < reader and recorded[made_by]:
            one, other = root(reader), root(made_by)
            first[max(one, other)] = min(one, other)
    return np.array([root(row) for row in range(len(operators))], np.int64)


def _kept_bytes(trace: Trace, graph: ValueGraph, rows: Array) -> dict[str, tuple[int, int]]:
    """By device, the highest sum over values that these operators made or read, less the highest of those still to be
    read; and the highest sum over all values of the same looks. What was there before, or stays, is not kept by a
    graph."""
    values, reads, end = graph.values, graph.reads, len(graph.operators)
    known = reads["value"] >= 0
    last = np.zeros(len(values), np.int64)
    np.maximum.at(last, reads["value"][known], reads["operator"][known] + 1)
    taken = np.isin(values["made_by"], rows)
    taken[reads["value"][known & np.isin(reads["operator"], rows)]] = True
    gone, new = values["gone_at"], values["made_by"] >= 0
    mine = np.flatnonzero(taken & (gone >= 0) & new)
    look = graph.operators["look"]
    beside = new & np.isin(look[np.maximum(values["made_by"], 0)], look[rows])
    found = {}
    for device in np.unique(values["device"][mine]).tolist():
        there = mine[values["device"][mine] == device]
        made, size = values["made_by"][there], values["bytes"][there]
        needed = np.minimum(gone[there], np.maximum(last[there], made + 1))
        kept = _highest(made, gone[there], size, end) - _highest(made, needed, size, end)
        every = np.flatnonzero(beside & (values["device"] == device))
        until = np.where(gone[every] < 0, end, gone[every])
        if kept > 0 and device >= 0:
            most = _highest(values["made_by"][every], until, values["bytes"][every], end)
            found[trace.names[device]] = kept, most
    return found


def _highest(starts: Array, ends: Array, sizes: Array, count: int) -> int:
    change = np.zeros(count + 2, np.int64)
    np.add.at(change, starts, sizes)
    np.add.at(change, np.maximum(ends, starts + 1), -sizes)
    return int(np.cumsum(change).max(initial=0))
