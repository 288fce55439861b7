"""The few places for whose sake the device works: each kernel at the line that asked for it, backward at its forward.

Where the device is the bottleneck, the host stands at whatever line finds its queue full, so samples of its stack say
little. A launch knows its line, and a node of the backward pass the operator that made it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.analyses.basics.host_marks import outermost, picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.model import intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

MOST = 5
LEAST_SHARE = 0.05
# of a spot's time: with less there is no one operator or kernel to name
_NAMED_SHARE = 0.3


@dataclass(frozen=True)
class DeviceSpot:
    """`ns` and `share` (0..1) of the device's work; `backward_share` of the spot's own time is in its backward pass.

    `source_file`: row of the followed files, `line` there, None where no line is known; `cell_line`: the line of the
    profiled cell that led there. `operator`: the outermost one of the forward pass that takes most of it, `kernel` the
    heaviest kernel; each empty where none has much of it.
    """

    ns: int
    share: float
    backward_share: float
    operator: str
    kernel: str
    source_file: int | None = None
    line: int | None = None
    cell_line: int | None = None


@dataclass(frozen=True)
class DeviceSpots(Result):
    """`spots`, the largest first: five at most, each of 5 % at least of `total_ns`, the device's work in the steady
    steps, else in the whole recording. `named_ns`: how much of it has a line. Empty without a device."""

    spots: tuple[DeviceSpot, ...] = ()
    total_ns: int = 0
    named_ns: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From launches, the graph's joins and the lines that threads were in."""
        device = results.get(DeviceActivity).primary
        if device is None:
            return cls()
        events = _steady_events(trace.device_events.take(trace.device_events["device"] == device.id), trace, results)
        if not len(events):
            return cls()
        asked = _Asked.of(trace, results, events)
        total = int(events["duration_ns"].sum())
        return cls(tuple(_spots(trace, events, asked, total)), total, int(events["duration_ns"][asked.line > 0].sum()))


@dataclass(frozen=True, eq=False)
class _Asked:
    """Who asked for each event; arrays of one row an event. `operator`: row of the outermost forward operator, -1: none
    is known; `line` -1 where none is known."""

    operator: Array
    backward: Array
    source_file: Array
    line: Array
    cell_line: Array

    @classmethod
    def of(cls, trace: Trace, results: Results, events: Table) -> Self:
        threads, times = issued_at(trace, events)
        rows = picked(trace.calls["operator"], events["call"])
        rows = np.where(rows >= 0, rows, events["operator"])
        node = _node_above(trace, rows)
        maker = picked(makers(trace), node)
        made = maker >= 0
        operators = trace.operators
        threads = np.where(made, picked(operators["thread"], maker), threads)
        times = np.where(made, picked(operators["start_ns"], maker), times)
        places = results.get(LinePlaces)
        at = places.at(threads, times)
        return cls(
            operator=outermost(trace, np.where(made, maker, rows)),
            backward=node >= 0,
            source_file=picked(places.events["source_file"], at),
            line=picked(places.events["line"], at),
            cell_line=picked(places.events["cell_line"], at),
        )


def _steady_events(events: Table, trace: Trace, results: Results) -> Table:
    steps = results.get(StepTime)
    if not steps.steady.any():
        return events
    steady = intervals.union(intervals.of(trace.steps.take(steps.steady)))
    inside = events.take(intervals.contains(steady, events["start_ns"]))
    return inside if len(inside) else events


def _node_above(trace: Trace, rows: Array) -> Array:
    """The node of the autograd graph at or around each row of operators; -1 where there is none."""
    nodes, parents = backward_mask(trace), trace.operators["parent"]
    found, at = np.full(len(rows), -1, np.int64), rows.copy()
    while (at >= 0).any():
        here = np.flatnonzero((at >= 0) & (picked(nodes.astype(np.int64), at) > 0))
        # the outermost one: it has the number that joins it to its maker
        found[here] = at[here]
        at = picked(parents, at)
    return found


def _spots(trace: Trace, events: Table, asked: _Asked, total: int) -> list[DeviceSpot]:
    operators, lasted = trace.operators, events["duration_ns"]
    name = np.where(asked.operator >= 0, picked(operators["name"], asked.operator), events["name"])
    placed = asked.line > 0
    # where no line is known, the operator stands for it
    keys = np.stack((np.where(placed, asked.source_file, -1), np.where(placed, asked.line, -1 - name)), axis=1)
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    spent = np.bincount(group, weights=lasted, minlength=len(distinct))
    found = []
    for row in np.argsort(-spent, kind="stable")[:MOST]:
        if spent[row] < LEAST_SHARE * total:
            break
        mine = np.flatnonzero(group == row)
        ns, known = lasted[mine], bool(placed[mine[0]])
        cell_lines = asked.cell_line[mine]
        found.append(
            DeviceSpot(
                ns=int(spent[row]),
                share=float(spent[row] / total),
                backward_share=float(ns[asked.backward[mine]].sum() / spent[row]),
                operator=_heaviest(trace, name[mine], ns),
                kernel=_heaviest(trace, events["name"][mine], ns),
                source_file=int(distinct[row, 0]) if known else None,
                line=int(distinct[row, 1]) if known else None,
                cell_line=_largest(cell_lines[cell_lines > 0], ns[cell_lines > 0]) if known else None,
            )
        )
    return found


def _heaviest(trace: Trace, names: Array, ns: Array) -> str:
    number = _largest(names, ns)
    if number is None or ns[names == number].sum() < _NAMED_SHARE * ns.sum():
        return ""
    return trace.names[number]


def _largest(values: Array, ns: Array) -> int | None:
    spent = defaultdict[int, int](int)
    for value, each in zip(values.tolist(), ns.tolist(), strict=True):
        spent[value] += each
    return max(spent, key=lambda value: spent[value], default=None)
