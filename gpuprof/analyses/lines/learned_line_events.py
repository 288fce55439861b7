"""Line events learned from looks at the stack: the operator that ran at that instant was called from that line.

A loop calls the same operators in the same order again and again. So the looks that fell on one of them, in whatever
iteration, tell the line of all its repetitions, where they agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# an operator is known by its name and those of so many before and after it; the fewer only where the more says nothing
_NEIGHBORS = (3, 1)
_AGREE = 0.75
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, about 2**64 divided by the golden ratio
_Place = tuple[int, int, int]  # source file, line, line of the cell


def learned_events(trace: Trace, lines: StackLines, ahead_ns: int) -> Table:
    """Rows of `line_events` for the main thread, in order of time, still on the clock of Unix (`ahead_ns` behind)."""
    tids = trace.threads["tid"]
    if not 0 <= trace.main_thread < len(tids) or not len(trace.stack_instants):
        return Table(LINE_EVENTS)
    operators = trace.operators
    rows = np.flatnonzero((operators["parent"] < 0) & (operators["thread"] == trace.main_thread))
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    starts = operators["start_ns"][rows]
    ends = starts + operators["duration_ns"][rows]
    seen = _seen(trace, lines, starts, ends, ahead_ns)
    distinct, number = _learned(operators["name"][rows], seen)
    return _as_events(int(tids[trace.main_thread]), starts - ahead_ns, ends - ahead_ns, distinct, number)


def _seen(trace: Trace, lines: StackLines, starts: Array, ends: Array, ahead_ns: int) -> list[tuple[int, _Place]]:
    """The operators that were looked at, by their position, with the place."""
    times, nodes = trace.stack_instants["time_ns"] + ahead_ns, trace.stack_instants["node"]
    at = np.searchsorted(starts, times, side="right") - 1
    inside = (at >= 0) & (nodes >= 0)
    inside &= times < np.where(at >= 0, ends[np.maximum(at, 0)] if len(ends) else 0, 0)
    found = []
    for position, node in zip(at[inside], nodes[inside], strict=True):
        if lines.line[node] > 0:
            place = (int(lines.source_file[node]), int(lines.line[node]), int(lines.cell_line[node]))
            found.append((int(position), place))
    return found


def _learned(names: Array, seen: list[tuple[int, _Place]]) -> tuple[list[_Place], Array]:
    """The places, and which of them is that of each operator; -1 where nobody looked at it or its like, or the looks
    disagree."""
    places = list(dict.fromkeys(place for _, place in seen))
    number_of = {place: number for number, place in enumerate(places)}
    found = np.full(len(names), -1)
    for reach in _NEIGHBORS:
        alike = _alike(names, reach)
        votes: dict[int, Counter[_Place]] = defaultdict(Counter)
        for position, place in seen:
            votes[int(alike[position])][place] += 1
        of_kind = np.full(int(alike.max(initial=-1)) + 1, -1)
        for kind, count in votes.items():
            if (agreed := _agreed(count)) is not None:
                of_kind[kind] = number_of[agreed]
        found = np.where(found < 0, of_kind[alike], found)
    return places, found


def _alike(names: Array, reach: int) -> Array:
    """A number for each operator: the same where the names around it are the same, `reach` to both sides."""
    # one number of 64 bits for all names around: sorting the rows themselves took 0.36 s for 100,000 operators
    padded = np.concatenate((np.full(reach, -1), names, np.full(reach, -1))).astype(np.uint64)
    mixed = np.zeros(len(names), np.uint64)
    for shift in range(2 * reach + 1):
        mixed = (mixed ^ padded[shift : shift + len(names)]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed, return_inverse=True)[1].reshape(-1)


def _agreed(votes: Counter[_Place]) -> _Place | None:
    place, most = votes.most_common(1)[0]
    return place if most >= _AGREE * votes.total() else None


def _as_events(tid: int, starts: Array, ends: Array, places: list[_Place], number: Array) -> Table:
    """Operators in a row on one line are one stay there, with the time between them."""
    changes, known = np.diff(number) != 0, number >= 0
    first, last = np.flatnonzero(np.append(True, changes) & known), np.flatnonzero(np.append(changes, True) & known)
    # each stay begins and ends before the next one
    columns = np.full((5, 2 * len(first)), -1, np.int64)
    columns[:, ::2] = starts[first], *np.array(places, np.int64).reshape(-1, 3)[number[first]].T, np.ones(len(first))
    columns[0, 1::2], columns[4, 1::2] = ends[last], 0
    named = dict(zip(("time_ns", "source_file", "line", "cell_line", "begins"), columns, strict=True))
    return Table(LINE_EVENTS, {**named, "tid": np.full(columns.shape[1], tid)})
