"""Operators of the close look found in the recording: by name and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.training.backward_work import backward_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array

# a share of less than that much recorded time is chance
_LEAST_BACKWARD_NS = 1_000_000


class RecordedPart(NamedTuple):
    """When operators of one name ran at one line, on any thread (a union), and which part of them is meant, 0..1."""

    within: Intervals
    part: float


def recorded_parts(results: Results, rows: Array, among: Array) -> tuple[RecordedPart, ...]:
    """Of these rows of `looked_operators`, a part of those in the mask `among`; empty where no lines were followed.

    One for each name and line that the recording has, too.
    """
    trace, looked = results.trace, results.get(ValueGraph).operators
    wanted, counts = _counts(trace.names, looked["name"][rows], looked["place"][rows])
    everything, of_all = _counts(trace.names, looked["name"][among], looked["place"][among])
    whole = dict(zip(everything, of_all, strict=True))
    recorded = _recorded(results)
    return tuple(
        RecordedPart(intervals.union(recorded[key]), min(number / whole[key], 1.0))
        for key, number in zip(wanted, counts, strict=True)
        if key in recorded and key in whole
    )


def backward_share(results: Results, parts: Sequence[RecordedPart]) -> float:
    """Which part of the recorded backward passes is the derivative of these parts, 0..1; 0 where little was recorded.

    What is computed once for equal inputs has its derivative computed once, too, for the sum of what comes back.
    """
    trace, whole_ns = results.trace, results.get(Phases).backward.total_ns
    if whole_ns < _LEAST_BACKWARD_NS:
        return 0.0
    # what runs in a backward pass has no derivative of its own here
    forward = [each._replace(within=intervals.subtract(each.within, results.get(Phases).backward)) for each in parts]
    spent = [each.part * backward_of(trace, each.within).total_ns for each in forward if each.within.total_ns]
    return min(sum(spent) / whole_ns, 1.0)


def _counts(names: tuple[str, ...], name: Array, place: Array) -> tuple[list[tuple[str, int]], list[int]]:
    pairs, counts = np.unique(np.stack((name, place), axis=1), axis=0, return_counts=True)
    total: dict[tuple[str, int], int] = {}
    for (each, at), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        key = own_name(names[each]), at
        total[key] = total.get(key, 0) + count
    return list(total), list(total.values())


def _recorded(results: Results) -> dict[tuple[str, int], Intervals]:
    """When operators were recorded, by own name and looked place; one interval each."""
    trace, lines, places = results.trace, results.get(LookedLines), results.get(LinePlaces)
    followed, operators = trace.context.lines, trace.operators
    if places.how is None or followed is None:
        return {}
    files = {each.filename: number for number, each in enumerate(followed.files)}
    at_line = {
        (0 if each.in_cell else files[each.file], each.line): row
        for row, each in enumerate(lines.lines)
        if each.in_cell or each.file in files
    }
    named = {own_name(trace.names[name]) for name in np.unique(trace.looked_operators["name"]).tolist()}
    hit = np.fromiter((own_name(name) in named for name in trace.names), bool, len(trace.names))
    rows = np.flatnonzero(hit[operators["name"]]) if len(operators) else np.empty(0, np.int64)
    events = places.at(operators["thread"][rows], operators["start_ns"][rows])
    rows, events = rows[events >= 0], events[events >= 0]
    keys = zip(places.events["source_file"][events].tolist(), places.events["line"][events].tolist(), strict=True)
    place = np.fromiter((at_line.get(key, -1) for key in keys), np.int64, len(rows))
    rows, place = rows[place >= 0], place[place >= 0]
    group, inverse = np.unique(np.stack((operators["name"][rows], place), axis=1), axis=0, return_inverse=True)
    own = [own_name(trace.names[name]) for name, _ in group.tolist()]
    found: dict[tuple[str, int], list[Array]] = {}
    for number, (_, where) in enumerate(group.tolist()):
        found.setdefault((own[number], where), []).append(rows[inverse.reshape(-1) == number])
    return {key: intervals.of(operators.take(np.concatenate(parts))) for key, parts in found.items()}
