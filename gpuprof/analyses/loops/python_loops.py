"""Where Python runs the same short sequence of operators over and over within a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.loop_operators import loop_operators
from gpuprof.analyses.loops.slice_walks import Walk, slice_walks, standing_slices, unbound_walk
from gpuprof.model.known_operators import NARROW, SELECT, SLICE, UNBIND
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

LEAST_TURNS = 10
_LONGEST_TURN = 48
_SLICING = (SELECT, SLICE, NARROW, "aten::index", "aten::__getitem__")


@dataclass(frozen=True, eq=False)
class Repetition:
    """One uninterrupted repetition: `turns` turns from `start_ns` to `end_ns`. `walks`: the dimensions that the slices
    of its turns walk along; None where shapes or indices were not recorded."""

    start_ns: int
    end_ns: int
    turns: int
    step: int
    walks: tuple[Walk, ...] | None


@dataclass(frozen=True, eq=False)
class Loop:
    """All runs of one sequence. `names`: the top-level operators of a turn. `slices`: a turn takes a slice
    (`x[i]`), or the tensor was unbound just before the first turn (`for row in x`). `runs` are in order of start.
    `outer`: where runs are turns themselves, of a loop around this one that walks along a dimension as well (`x[j]`,
    one `j` a run); known where shapes and indices were recorded."""

    names: tuple[str, ...]
    slices: bool
    runs: tuple[Repetition, ...]
    outer: tuple[Repetition, ...] = ()

    @property
    def turns(self) -> int:
        """Turns of all runs."""
        return sum(run.turns for run in self.runs)

    @property
    def total_ns(self) -> int:
        """Host time from each run's first operator to its last one's end, Python between them included."""
        return sum(run.end_ns - run.start_ns for run in self.runs)


@dataclass(frozen=True)
class PythonLoops(Result):
    """Loops of at least LEAST_TURNS turns on the main thread, outside input, backward and optimizer; costliest first.

    A loop over the layers of a model looks the same: what tells them apart is the slice and the number of turns.
    """

    loops: tuple[Loop, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of top-level operators."""
        rows, section = loop_operators(trace, results.get(Phases))
        found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        names = trace.operators["name"][rows]
        for first, count, period in _repetitions(names, section):
            turn = _canonical(tuple(int(name) for name in names[first : first + period]))
            found.setdefault(turn, []).append((first, count, period))
        loops = [_loop(trace, rows, turn, places) for turn, places in found.items()]
        return cls(tuple(sorted(loops, key=lambda loop: -loop.total_ns)))


def _repetitions(names: Array, section: Array) -> list[tuple[int, int, int]]:
    """(first position, turns, period) of each repetition, shortest period first, none within another."""
    taken = np.zeros(len(names), bool)
    found = []
    for period in range(1, min(_LONGEST_TURN, len(names) // LEAST_TURNS) + 1):
        same = (names[:-period] == names[period:]) & (section[:-period] == section[period:])
        edges = np.diff(np.concatenate(([0], same.astype(np.int8), [0])))
        begins, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        turns = (stops - begins) // period + 1
        for begin, count in zip(begins[turns >= LEAST_TURNS], turns[turns >= LEAST_TURNS], strict=True):
            stop = begin + count * period
            if not taken[begin:stop].any():
                taken[begin:stop] = True
                found.append((int(begin), int(count), period))
    return found


def _canonical(turn: tuple[int, ...]) -> tuple[int, ...]:
    """The same for every rotation of a turn: where in it a run begins is chance."""
    return min(turn[shift:] + turn[:shift] for shift in range(len(turn)))


def _loop(trace: Trace, rows: Array, turn: tuple[int, ...], places: list[tuple[int, int, int]]) -> Loop:
    operators = trace.operators
    runs, standing, unbound = [], [], False
    for first, count, period in sorted(places):
        inside = rows[first : first + count * period]
        covered = operators.take(inside)
        ends = covered["start_ns"] + covered["duration_ns"]
        step = int(covered["step"][0])
        source = _unbind_before(trace, rows, first, period)
        unbound |= source is not None
        turns = inside.reshape(count, period)
        walks = _walks(trace, turns, source)
        standing.append(standing_slices(trace, turns[[0, -1]]))
        runs.append(Repetition(int(covered["start_ns"][0]), int(ends.max()), count, step, walks))
    first, _, period = places[0]
    names = tuple(trace.names[name] for name in operators["name"][rows[first : first + period]])
    slices = unbound or any(name in _SLICING for name in names)
    return Loop(names, slices, tuple(runs), tuple(_outer(runs, standing)))


def _outer(runs: list[Repetition], standing: list[dict[Walk, int]]) -> Iterator[Repetition]:
    """Of runs that follow one another in a step, each with the index next to that of the run before."""
    first, along = 0, None
    for place in range(1, len(runs) + 1):
        before, after = standing[place - 1], standing[place] if place < len(runs) else {}
        moved = [walk for walk, index in after.items() if before.get(walk) == index - 1]
        if moved and runs[place].step == runs[place - 1].step and along in (None, moved[0]):
            along = moved[0]
            continue
        if along is not None and place - first >= LEAST_TURNS:
            yield Repetition(runs[first].start_ns, runs[place - 1].end_ns, place - first, runs[first].step, (along,))
        first, along = place, None


def _unbind_before(trace: Trace, rows: Array, first: int, period: int) -> int | None:
    """The row of the `aten::unbind` just before the first turn, wherever in the turn the repetition begins."""
    near = rows[max(first - period - 1, 0) : first + 1]
    found = near[np.isin(trace.names_of(trace.operators.take(near)), UNBIND)]
    return int(found[-1]) if len(found) else None


def _walks(trace: Trace, turns: Array, unbind: int | None) -> tuple[Walk, ...] | None:
    found = slice_walks(trace, turns)
    if unbind is None or found is None:
        return found
    walk = unbound_walk(trace, unbind)
    return None if walk is None else (walk, *found)
