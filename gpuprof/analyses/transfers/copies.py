"""Copies: how large, how fast, how much of each was hidden, how long the host stood in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import caller_of, outermost, picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

COPIES = TableSchema(
    "copies",
    "one copy on a device",
    (
        Column("start_ns", "int64", "ns", "when it began on the device"),
        Column("duration_ns", "int64", "ns", "how long it took on the device"),
        Column("bytes", "int64", "bytes", "bytes copied; -1 unknown"),
        Column("direction", "uint8", "CopyKind", "from where to where"),
        Column("host_memory", "uint8", "HostMemory", "pageable or pinned"),
        Column("bandwidth_bytes_per_s", "float64", "bytes/s", "bytes ÷ duration; NaN where either is unknown or 0"),
        Column("exposed_ns", "int64", "ns", "the part of it during which no compute kernel ran on that device"),
        Column(
            "host_blocked_ns",
            "int64",
            "ns",
            "time the host spent in the copying call and in the synchronise that follows it in the same operator; "
            "-1 where no call matches",
        ),
        Column("step", "int32", "row of steps", "the step that issued it; -1 outside every step"),
        Column("device", "int32", "device id", "the device it ran on"),
        Column("stream", "int64", "stream id", "the stream it ran on"),
        Column("call", "int32", "row of calls", "the call that issued it; -1 where none matches"),
        Column("operator", "int32", "row of operators", "the operator that caused it; -1 if unknown"),
        Column("operator_name", "int32", "index of names", "the outermost operator of a library around it; -1 if none"),
        Column("caller_name", "int32", "index of names", "the operator or range around that; -1 if none"),
        Column("event", "int64", "row of device_events", "the copy itself"),
    ),
)


@dataclass(frozen=True)
class DirectionTotals:
    """Sums over the copies of one direction; `ns` adds durations. `host_blocked_ns` counts each call once."""

    count: int
    bytes: int
    ns: int
    exposed_ns: int
    host_blocked_ns: int
    bandwidth_bytes_per_s: float | None


@dataclass(frozen=True, eq=False)
class Copies(Result):
    """Every copy (see COPIES) in order of start, and totals by direction (only those that occur).

    `names`: what the columns `operator_name` and `caller_name` count in.
    """

    table: Table
    totals: Mapping[CopyKind, DirectionTotals]
    names: tuple[str, ...]

    def of_direction(self, direction: CopyKind) -> Table:
        """The rows of one direction."""
        return self.table.take(self.table["direction"] == direction)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the copies among the device events and the calls that issued them."""
        events = trace.device_events
        rows = np.flatnonzero(events["kind"] == DeviceEventKind.COPY)
        rows = rows[np.argsort(events["start_ns"][rows], kind="stable")]
        copies = events.take(rows)
        measured = (copies["bytes"] >= 0) & (copies["duration_ns"] > 0)
        rate = np.full(len(copies), np.nan)
        rate[measured] = copies["bytes"][measured] * 1e9 / copies["duration_ns"][measured]
        same = ("start_ns", "duration_ns", "bytes", "host_memory", "step", "device", "stream", "call", "operator")
        blocked = np.where(copies["call"] >= 0, _host_time(trace.calls)[copies["call"]], -1) if trace.calls else -1
        around = outermost(trace, copies["operator"])
        table = Table(
            COPIES,
            {
                **{name: copies[name] for name in same},
                "event": rows,
                "operator_name": picked(trace.operators["name"], around),
                "caller_name": picked(trace.operators["name"], caller_of(trace, around)),
                "direction": copies["copy"],
                "bandwidth_bytes_per_s": rate,
                "exposed_ns": _exposed(copies, results),
                "host_blocked_ns": np.broadcast_to(blocked, len(copies)),
            },
        )
        directions = [CopyKind(number) for number in np.unique(table["direction"])]
        return cls(table, {each: _totals(table.take(table["direction"] == each)) for each in directions}, trace.names)


def _exposed(copies: Table, results: Results) -> Array:
    exposed = copies["duration_ns"].copy()
    for device in results.get(DeviceActivity).devices:
        here = copies["device"] == device.id
        starts = copies["start_ns"][here]
        exposed[here] -= intervals.covered(device.compute, starts, starts + copies["duration_ns"][here])
    return exposed


def _host_time(calls: Table) -> Array:
    """For each call its duration, plus that of the synchronise that follows it in the same operator.

    Other calls may stand between the two (torch asks whether the stream is being captured). Outside any operator only
    a plain `cudaMemcpy` is known to wait, so nothing is added there.
    """
    order = np.lexsort((calls["start_ns"], calls["operator"], calls["thread"]))
    kind, operator = calls["kind"][order], calls["operator"][order]
    place = np.arange(len(order))
    syncing = np.where(kind == CallKind.SYNCHRONIZE, place, len(order))
    following = np.minimum.accumulate(syncing[::-1])[::-1]
    copying = np.where(kind == CallKind.COPY, place, len(order))
    another = np.append(np.minimum.accumulate(copying[::-1])[::-1][1:], len(order))
    sync = np.minimum(following, len(order) - 1)
    belongs = (following < another) & (operator >= 0) & (operator[sync] == operator)
    belongs &= calls["thread"][order[sync]] == calls["thread"][order]
    total = calls["duration_ns"].copy()
    total[order] += np.where(belongs, calls["duration_ns"][order[sync]], 0)
    return total


def _totals(rows: Table) -> DirectionTotals:
    size, measured = rows["bytes"], ~np.isnan(rows["bandwidth_bytes_per_s"])
    busy = int(rows["duration_ns"][measured].sum())
    first_of_call = np.unique(rows["call"], return_index=True)[1]
    blocked = rows["host_blocked_ns"][first_of_call]
    return DirectionTotals(
        count=len(rows),
        bytes=int(size[size > 0].sum()),
        ns=int(rows["duration_ns"].sum()),
        exposed_ns=int(rows["exposed_ns"].sum()),
        host_blocked_ns=int(blocked[blocked > 0].sum()),
        bandwidth_bytes_per_s=float(size[measured].sum() * 1e9 / busy) if busy else None,
    )
