"""The few places for whose sake the device works: each kernel at the line that asked for it, backward at its forward.

Where the device is the bottleneck, the host stands at whatever line finds its queue full, so samples of its stack say
little. A launch knows its line, and a node of the backward pass the operator that made it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.device.work_asked import WorkAsked
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
        rows = _steady(np.flatnonzero(trace.device_events["device"] == device.id), trace, results)
        if not len(rows):
            return cls()
        events, asked = trace.device_events.take(rows), results.get(WorkAsked).of_rows(rows)
        total = int(events["duration_ns"].sum())
        return cls(tuple(_spots(trace, events, asked, total)), total, int(events["duration_ns"][asked.line > 0].sum()))


def _steady(rows: Array, trace: Trace, results: Results) -> Array:
    """Those of the device events that begin in steady steps; all where there are none."""
    steps = results.get(StepTime)
    if not steps.steady.any():
        return rows
    steady = intervals.union(intervals.of(trace.steps.take(steps.steady)))
    inside = rows[intervals.contains(steady, trace.device_events["start_ns"][rows])]
    return inside if len(inside) else rows


def _spots(trace: Trace, events: Table, asked: WorkAsked, total: int) -> list[DeviceSpot]:
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
