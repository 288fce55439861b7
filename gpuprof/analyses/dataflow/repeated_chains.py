"""What belongs together of repeated operators: one calculation, from what it starts with to the results to keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class Again(StrEnum):
    """When a calculation is repeated."""

    EACH_ITERATION = "each iteration"  # it gave the same in an iteration before
    LAST_ITERATION = "last iteration"  # it gave the same in the iteration before alone: its inputs change now and then
    WITHIN_ITERATION = "within an iteration"
    UNKNOWN = "again"  # no iterations are known


@dataclass(frozen=True, eq=False)
class Chain:
    """Repeated operators that read one another's results, or are the same operator at the same line.

    `rows`: of `looked_operators`. `share`: of the time of all steady operators, 0..1. `names`: operators, most time
    first. `places`: rows of the looked places, most time first, and their shares of the chain's time. `kept`: the
    places whose results something else reads, in order; the last of them is the last result. `read_at`: the place of
    the first that reads the last result; -1 where nothing known does. `kept_bytes`: the largest result at each of
    `kept`. `leaves`, of each of `kept`: another line reads it, or may yet; else what
    repeats is on the way to what the line gives. `firsts`: by row, the operator that gave the same result first.
    `graph`: autograd recorded one of its operators, or one of those that they repeat.
    """

    again: Again
    rows: Array
    share: float
    names: tuple[str, ...]
    places: tuple[int, ...]
    place_shares: tuple[float, ...]
    kept: tuple[int, ...]
    read_at: int
    kept_bytes: tuple[int, ...]
    graph: bool
    firsts: Array = field(default_factory=lambda: np.empty(0, np.int64))
    leaves: tuple[bool, ...] = ()


def chains(trace: Trace, graph: ValueGraph, first: Array, rows: Array, whole_ns: int) -> tuple[Chain, ...]:
    """Of these repeated operators, whose first equals are `first` (by operator); most time first."""
    if not len(rows):
        return ()
    again = _again(graph, first, rows)
    part = _parts(graph, first, rows, again)
    found, every = [], set(rows.tolist())
    for each in np.unique(part):
        inside = part == each
        found.append(_chain(trace, graph, first, rows[inside], again[inside], whole_ns, every))
    return tuple(sorted(found, key=lambda chain: -chain.share))


_ORDER = (Again.EACH_ITERATION, Again.WITHIN_ITERATION, Again.UNKNOWN)


def _again(graph: ValueGraph, first: Array, rows: Array) -> Array:
    """Of each row its place in _ORDER."""
    iteration = graph.operators["iteration"]
    own, other = iteration[rows], iteration[first[rows]]
    return np.where((own < 0) | (other < 0), 2, np.where(own == other, 1, 0))


def _parts(graph: ValueGraph, first: Array, rows: Array, again: Array) -> Array:
    """The number of the chain of each row, by the operators at one line and by who reads whose results."""
    operators = graph.operators
    alike = np.stack((again, operators["name"][rows], operators["place"][rows], operators["backward"][rows]), axis=1)
    _, node = np.unique(alike, axis=0, return_inverse=True)
    node = node.reshape(-1)
    at = np.full(len(operators), -1, np.int64)
    at[rows] = np.arange(len(rows))
    reading = at[graph.reads["operator"]]
    value = graph.reads["value"]
    maker = picked(graph.values["made_by"], value)
    making = picked(at, maker)
    linked = (reading >= 0) & (making >= 0)
    left, right = reading[linked], making[linked]
    same = again[left] == again[right]
    return _joined(node, node[left[same]], node[right[same]])


def _joined(node: Array, left: Array, right: Array) -> Array:
    """Nodes joined by pairs: the least number among those joined, of each of `node`."""
    label = np.arange(int(node.max()) + 1)
    pairs = np.unique(np.stack((left, right), axis=1), axis=0)
    while True:
        before = label.copy()
        low = np.minimum(label[pairs[:, 0]], label[pairs[:, 1]])
        np.minimum.at(label, pairs[:, 0], low)
        np.minimum.at(label, pairs[:, 1], low)
        label = label[label]
        if np.array_equal(label, before):
            joined: Array = label[node]
            return joined


def _chain(
    trace: Trace, graph: ValueGraph, first: Array, rows: Array, again: Array, whole_ns: int, every: set[int]
) -> Chain:
    operators = graph.operators
    lasted = operators["duration_ns"][rows]
    total = int(lasted.sum())
    names, _ = _by_time(operators["name"][rows], lasted)
    places, spent = _by_time(operators["place"][rows], lasted)
    kept = _kept(graph, rows, every)
    repeated = _ORDER[int(again[0])]
    if repeated is Again.EACH_ITERATION and _changes(graph, first, rows):
        repeated = Again.LAST_ITERATION
    return Chain(
        again=repeated,
        rows=rows,
        share=total / whole_ns if whole_ns else 0.0,
        names=tuple(dict.fromkeys(trace.names[name].partition(".")[0] for name in names)),
        places=tuple(places),
        place_shares=tuple(ns / total if total else 0.0 for ns in spent),
        kept=tuple(kept),
        read_at=next((each.read_at for each in reversed(kept.values()) if each.read_at >= 0), -1),
        kept_bytes=tuple(each.bytes for each in kept.values()),
        graph=bool(operators["graph"][np.concatenate((rows, first[rows]))].any()),
        firsts=first[rows],
        leaves=tuple(each.leaves for each in kept.values()),
    )


def _changes(graph: ValueGraph, first: Array, rows: Array) -> bool:
    """Whether the longest operator of a chain has one content for some neighbouring iterations, then another."""
    operators = graph.operators
    place = operators["name"][rows].astype(np.int64) << 32 | operators["place"][rows] + 1
    kind = np.unique(place, return_inverse=True)[1].reshape(-1)
    longest = int(np.argmax(np.bincount(kind, weights=operators["duration_ns"][rows])))
    rows = rows[kind == longest]
    last = int(operators["iteration"][rows].max())
    groups, over = np.unique(first[rows]), 0
    for group in groups.tolist():
        seen = np.unique(operators["iteration"][[group, *rows[first[rows] == group].tolist()]])
        if (np.diff(seen) > 1).any():
            return False
        over += int(seen[-1]) < last
    return len(groups) > 1 and 2 * over >= len(groups)


def _by_time(what: Array, lasted: Array) -> tuple[list[int], list[int]]:
    values, group = np.unique(what, return_inverse=True)
    spent = np.bincount(group.reshape(-1), weights=lasted)
    order = np.argsort(-spent, kind="stable")
    return values[order].tolist(), spent[order].astype(np.int64).tolist()


def _kept(graph: ValueGraph, rows: Array, every: set[int]) -> dict[int, _Leaving]:
    """By place, in order, the results that something outside of all that is repeated (`every`) reads. Backward
    passes read what forward passes saved for them: that counts only where nothing else does."""
    operators = graph.operators
    place, backward = operators["place"], operators["backward"]
    reader, size, gone = graph.reads["operator"], graph.values["bytes"], graph.values["gone_at"]
    found: dict[bool, dict[int, _Leaving]] = {False: {}, True: {}}
    for row in rows.tolist():
        results = graph.outputs.of(row)
        for value in graph.results["value"][results[graph.new[results]]].tolist():
            others = [each for each in reader[graph.readers.of(value)].tolist() if not graph.view[each] and each != row]
            outside = [each for each in others if each not in every]
            # what is still there, unread, may be read after the look
            if outside or (not others and gone[value] >= 0):
                saved = bool(outside) and bool(backward[outside].all()) and not backward[row]
                leaving = found[saved].setdefault(int(place[row]), _Leaving())
                leaving.row, leaving.bytes = row, max(leaving.bytes, int(size[value]))
                leaving.read_at = int(place[outside[0]]) if outside else leaving.read_at
                leaving.leaves |= not outside or bool((place[outside] != place[row]).any())
    chosen = found[False] or found[True]
    return dict(sorted(chosen.items(), key=lambda each: each[1].row))


@dataclass
class _Leaving:
    """Results of one line that something else reads: the last operator that makes one, and the largest. `leaves`:
    another line reads one, or may yet do so."""

    row: int = -1
    bytes: int = 0
    read_at: int = -1
    leaves: bool = False
