"""Loops whose turns do the same on small pieces, and of which no turn needs another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph, any_of
from gpuprof.analyses.turns.searching_turns import ItemSearch, may_search, search_of
from gpuprof.analyses.turns.turn_breaks import from_break
from gpuprof.analyses.turns.turn_dependence import needs_earlier_turns, needs_only_python, other_begin
from gpuprof.analyses.turns.turns import TurnLoop, loops
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

LEAST_TURNS = 16
# of turns that each read all of a large tensor: all in one call then save most of the time
_LEAST_SEARCHES = 8
# of a loop that went on after the look
_LEAST_CUT_OFF = 4
_CUT_OFF = ("operators", "seconds")
_ALIKE = 0.8
# above it an operator takes longer than the call of it
_MOST_MADE, _MOST_READ = 4096, 32_768
# rows that a model takes at once: as many are a batch
_MOST_ROWS = 7
_STATE = (ValueKind.PARAMETER, ValueKind.GRADIENT, ValueKind.OPTIMIZER_STATE)
# loops that are too short to matter are not followed
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class SeparateLoop:
    """One loop. `turns`: in each run, on average; `runs`: how often it ran with enough turns.

    `rows`: of `looked_operators`, in the turns and in the backward passes of their lines; `time_ns`: theirs, and
    `share` of all operators' time, 0..1; `backward_share`: what the backward passes take of all. `places`: rows of the
    looked places with most of the time first; `head`: where a turn begins. `names`: operators that take longest.
    `made`: elements that an operator makes, the median by time. `indexed`: shape of the one tensor whose pieces the
    turns take, else ""; `searched`: what each turn compares with an item of its own, to take few elements. `random`:
    whether they draw random numbers; `gradients`: whether each turn has a backward pass of its own.
    """

    turns: float
    runs: int
    rows: tuple[int, ...]
    time_ns: int
    share: float
    backward_share: float
    places: tuple[int, ...]
    head: int
    names: tuple[str, ...]
    made: int
    indexed: str
    searched: ItemSearch | None
    random: bool
    gradients: bool


@dataclass(frozen=True, eq=False)
class SeparateTurns(Result):
    """`loops`: most time first; no operator is in two of them but for backward passes. `rows`: of all of them, each
    once; `share`: their part of the time of all operators, 0..1. `operators`: how many the look saw. `told`: loops
    besides whose turns no value ties, but of whose results Python reads some: their text may show that no turn needs
    another. Runs that only Python parts count as one there.
    """

    loops: tuple[SeparateLoop, ...]
    told: tuple[SeparateLoop, ...]
    rows: Array
    share: float
    operators: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of the operators, and the values that they read."""
        graph = results.get(ValueGraph)
        operators, lasted = graph.operators, graph.operators["duration_ns"]
        whole = int(lasted.sum())
        if not len(graph.values) or whole <= 0:
            return cls((), (), np.zeros(0, np.int64), 0.0, len(operators))
        places = operators["place"].astype(np.int64)
        keys = (operators["name"].astype(np.int64) << 32 | (places + 1) << 1) | operators["backward"]
        taken, besides, found, told = np.zeros(len(operators), bool), np.zeros(len(operators), bool), [], []
        for least in (LEAST_TURNS, _LEAST_SEARCHES) if may_search(trace, graph) else (LEAST_TURNS,):
            for loop in _loops(trace, graph, keys, least):
                inside = loop.turn >= 0
                if (taken & inside).any() or int(lasted[inside].sum()) < _LEAST_SHARE * whole:
                    continue
                separate = _separate_anywhere(trace, graph, loop, keys, least)
                if least < LEAST_TURNS and _search(trace, graph, separate or loop) is None:
                    continue
                if separate is not None:
                    taken |= inside
                    found.append(_described(trace, graph, separate, whole))
                elif least < LEAST_TURNS and (besides & inside).any():
                    continue  # told of already
                elif _is_of_pieces(trace, graph, loop) and needs_only_python(trace, graph, loop):
                    told.append(_described(trace, graph, loop, whole))
                    besides |= inside
        rows = np.unique(np.array([row for each in found for row in each.rows], np.int64))
        share = int(lasted[rows].sum()) / whole
        told = [each for each in told if not np.isin(each.rows, rows).any()]
        return cls(_longest_first(found), _longest_first(told), rows, share, len(operators))


def _longest_first(loops: list[SeparateLoop]) -> tuple[SeparateLoop, ...]:
    return tuple(sorted(loops, key=lambda each: -each.time_ns))


def _loops(trace: Trace, graph: ValueGraph, keys: Array, least: int) -> Iterator[TurnLoop]:
    look, heads = trace.context.look, ~graph.operators["backward"] & (graph.operators["place"] >= 0)
    parts = look.each if look is not None else ()
    cut = _LEAST_CUT_OFF if any(each.ended_by in _CUT_OFF for each in parts) else 0
    return loops(keys, heads, least, _ALIKE, cut)


def _separate_anywhere(trace: Trace, graph: ValueGraph, loop: TurnLoop, keys: Array, least: int) -> TurnLoop | None:
    """As `_separate`, also with turns that begin where the loop of the text does."""
    separate = _separate(trace, graph, loop, keys)
    if separate is not None:
        return separate
    parted = from_break(keys, loop, least, _ALIKE)
    return _separate(trace, graph, parted, keys) if parted is not None else None


def _separate(trace: Trace, graph: ValueGraph, loop: TurnLoop, keys: Array) -> TurnLoop | None:
    """The loop, or the same one with turns that begin elsewhere, where its turns are small and need no other."""
    if not _is_of_pieces(trace, graph, loop):
        return None
    if not needs_earlier_turns(trace, graph, loop):
        return loop
    other = other_begin(trace, graph, loop)
    later = loop.later(keys, other, _ALIKE) if other else None
    return later if later is not None and not needs_earlier_turns(trace, graph, later) else None


def _is_of_pieces(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> bool:
    inside = loop.turn >= 0
    small = _small(trace, graph, loop, inside) or _search(trace, graph, loop) is not None
    return small and not _of_parameters(graph, loop, inside)


def _search(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> ItemSearch | None:
    """Weights are no tensor that is searched."""
    common = _common(graph, loop) & ~np.isin(graph.values["kind"][graph.reads["value"]], _STATE)
    return search_of(trace, graph, loop, common)


def _described(trace: Trace, graph: ValueGraph, loop: TurnLoop, whole_ns: int) -> SeparateLoop:
    operators, inside = graph.operators, loop.turn >= 0
    lasted, places = operators["duration_ns"], operators["place"]
    behind = ~inside & operators["backward"] & np.isin(operators["forward_place"], _known(places[inside]))
    rows = np.flatnonzero(inside | behind)
    names = [trace.names[each] for each in _by_time(operators["name"], lasted, inside & graph.making)]
    spent, backward = int(lasted[rows].sum()), int(lasted[behind].sum())
    return SeparateLoop(
        turns=sum(run.count for run in loop.runs) / len(loop.runs),
        runs=len(loop.runs),
        rows=tuple(rows.tolist()),
        time_ns=spent,
        share=spent / whole_ns,
        backward_share=backward / whole_ns,
        places=tuple(each for each in _by_time(places, lasted, inside) if each >= 0),
        head=int(places[loop.runs[0].starts[0]]),
        names=tuple(dict.fromkeys(name.partition(".")[0] for name in names)),
        made=_median_by_time(graph, graph.results, loop),
        indexed=_indexed(trace, graph, loop),
        searched=_search(trace, graph, loop),
        random=bool(operators["random"][inside].any()),
        gradients=bool(operators["backward"][inside].any()),
    )


def _known(places: Array) -> Array:
    return np.unique(places[places >= 0])


def _by_time(what: Array, lasted: Array, chosen: Array) -> list[int]:
    """Distinct ones of the chosen, most time first."""
    values, group = np.unique(what[chosen], return_inverse=True)
    spent = np.bincount(group.reshape(-1), weights=lasted[chosen], minlength=len(values))
    return [int(each) for each in values[np.argsort(-spent, kind="stable")]]


def _small(trace: Trace, graph: ValueGraph, loop: TurnLoop, inside: Array) -> bool:
    """Whether operators make something, but make and read little, and a model is given few rows."""
    if not (inside & graph.making).any() or _median_by_time(graph, graph.results, loop) > _MOST_MADE:
        return False
    own = graph.reads.take(~_common(graph, loop))
    return _median_by_time(graph, own, loop) <= _MOST_READ and not _batched(trace, graph, inside)


def _common(graph: ValueGraph, loop: TurnLoop) -> Array:
    """Reads of what most turns read, such as weights: they are no pieces."""
    value, turn = graph.reads["value"], loop.turn[graph.reads["operator"]]
    inside = (value >= 0) & (turn >= 0)
    pairs = np.unique(np.stack((value[inside], turn[inside])), axis=1)
    readers = np.bincount(pairs[0], minlength=len(graph.values))
    # weights are other values after each step of an optimizer: of the turns of one run
    turns = sum(run.count for run in loop.runs) / len(loop.runs)
    found: Array = inside & (readers[value] * 2 >= turns)
    return found


def _median_by_time(graph: ValueGraph, table: Table, loop: TurnLoop) -> int:
    """Elements of the largest tensor on that side of operators that compute: half of their time goes into fewer."""
    chosen = (loop.turn >= 0) & graph.making
    largest = np.zeros(len(chosen), np.int64)
    np.maximum.at(largest, table["operator"], table["elements"])
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return 0
    rows = rows[np.argsort(largest[rows], kind="stable")]
    spent = np.cumsum(np.maximum(graph.operators["duration_ns"][rows], 1))
    return int(largest[rows[np.searchsorted(spent, spent[-1] / 2)]])


def _batched(trace: Trace, graph: ValueGraph, inside: Array) -> bool:
    """Whether operators that read weights make results of many rows: each turn is a batch."""
    weights = _reads_of(graph, ValueKind.PARAMETER)
    uses = any_of(graph.reads["operator"], weights, len(inside)) & inside & graph.making
    results = np.flatnonzero(uses[graph.results["operator"]] & graph.new)
    rows = [_rows(trace.names[each]) for each in graph.results["shape"][results].tolist() if each >= 0]
    return bool(rows) and float(np.median(rows)) > _MOST_ROWS


def _rows(shape: str) -> int:
    first, more, _ = shape.strip("[]").partition(",")
    return int(first) if more else 1


def _reads_of(graph: ValueGraph, kind: ValueKind) -> Array:
    value = graph.reads["value"]
    found: Array = (value >= 0) & (graph.values["kind"][value] == kind)
    return found


def _of_parameters(graph: ValueGraph, loop: TurnLoop, inside: Array) -> bool:
    """Whether the pieces are weights: turns have their own ones, or write to them, as an optimizer does."""
    made = graph.values["made_by"]
    written = made[np.isin(graph.values["kind"], (ValueKind.PARAMETER, ValueKind.OPTIMIZER_STATE)) & (made >= 0)]
    if inside[written].any():
        return True
    # also in a content that came later
    state = np.isin(graph.values["storage"], graph.values["storage"][np.isin(graph.values["kind"], _STATE)])
    reader, value = graph.reads["operator"], graph.reads["value"]
    chosen = (value >= 0) & inside[reader] & ~graph.operators["backward"][reader]
    chosen &= state[value]
    if not chosen.any():
        return False
    pairs = np.unique(np.stack((graph.values["storage"][value[chosen]], loop.turn[reader[chosen]])), axis=1)
    return bool(np.unique(pairs[0], return_counts=True)[1].min() <= len(loop.runs))


def _indexed(trace: Trace, graph: ValueGraph, loop: TurnLoop) -> str:
    """The shape of a tensor of which each turn reads another piece, the largest one; "" where there is none."""
    run, inputs, reads = loop.runs[0], graph.inputs, graph.reads
    usual = run.starts[run.usual]
    most, found = 0, ""
    for offset in range(int((run.ends - run.starts)[run.usual][0])):
        rows = usual + offset
        rows = inputs.rows[inputs.bounds[rows][inputs.bounds[rows] < inputs.bounds[rows + 1]]]
        values, pieces = np.unique(reads["value"][rows]), np.unique(reads["geometry"][rows])
        if len(values) != 1 or values[0] < 0 or len(pieces) * 2 < len(usual):
            continue
        elements = int(graph.values["elements"][values[0]])
        if elements > most:
            most, found = elements, trace.names[graph.values["shape"][values[0]]]
    # of a tensor that was there only an element may have been seen
    return found if found != "[]" else ""
