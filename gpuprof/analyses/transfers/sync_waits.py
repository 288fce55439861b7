"""Sync waits: where the host stood still for the device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import driving_threads, named, outermost, picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

_BLOCKING_FACTOR = 3
_ASYNC_CALL_NS = 10_000


class SyncKind(IntEnum):
    """EXPLICIT: a synchronise outside any operator, written by the user. IMPLICIT: inside an operator such as item."""

    EXPLICIT = 0
    IMPLICIT = 1


SYNC_WAITS = TableSchema(
    "sync_waits",
    "one host call that waits for the device",
    (
        Column("start_ns", "int64", "ns", "when the call began"),
        Column("duration_ns", "int64", "ns", "how long it took"),
        Column("name", "int32", "index of names", "the call"),
        Column(
            "operator_name",
            "int32",
            "index of names",
            "the outermost operator of a library around it (aten::item), else the outermost of all; -1 if none",
        ),
        Column("operator", "int32", "row of operators", "that operator; -1 if none"),
        Column("kind", "uint8", "SyncKind", "explicit or implicit"),
        Column(
            "idle_after_ns", "int64", "ns", "first device idle from the return until its next event; 0 if none came"
        ),
        Column("step", "int32", "row of steps", "the step in which it began; -1 outside every step"),
        Column("thread", "int32", "row of threads", "the host thread that waited"),
        Column("call", "int32", "row of calls", "the call"),
    ),
)


@dataclass(frozen=True, eq=False)
class SyncWaits(Result):
    """Every synchronise and every blocking copy of the threads that drive the device, in order of start.

    `total_ns` adds their durations; `per_step` is the mean number over the steps (waits outside steps left out),
    None without steps. `names`: what the columns `name` and `operator_name` count in. `calls_recorded`: any
    runtime call was, so that no wait is told from waits that were not recorded.
    """

    table: Table
    count: int
    total_ns: int
    per_step: float | None
    names: tuple[str, ...]
    calls_recorded: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the calls: those that synchronise, and the copying calls that wait (see `blocking_copies`)."""
        calls = trace.calls
        waiting = (calls["kind"] == CallKind.SYNCHRONIZE) | blocking_copies(trace)
        rows = np.flatnonzero(waiting & np.isin(calls["thread"], driving_threads(trace)))
        chosen = calls.take(rows)
        operator = outermost(trace, chosen["operator"])
        explicit = (chosen["operator"] < 0) & (chosen["kind"] == CallKind.SYNCHRONIZE)
        table = Table(
            SYNC_WAITS,
            {
                **{name: chosen[name] for name in ("start_ns", "duration_ns", "name", "step", "thread")},
                "operator": operator,
                "operator_name": picked(trace.operators["name"], operator),
                "kind": np.where(explicit, SyncKind.EXPLICIT, SyncKind.IMPLICIT),
                "idle_after_ns": _idle_after(results, chosen["start_ns"] + chosen["duration_ns"]),
                "call": rows,
            },
        )
        inside, steps = table["step"] >= 0, len(trace.steps)
        return cls(
            table=table,
            count=len(table),
            total_ns=int(table["duration_ns"].sum()),
            per_step=float(inside.sum()) / steps if steps else None,
            names=trace.names,
            calls_recorded=len(calls) > 0,
        )


def blocking_copies(trace: Trace) -> Array:
    """Boolean mask of shape `(len(calls),)`: copying calls in which the host waits for the device.

    Those that are synchronous by name (cudaMemcpy, hipMemcpyWithStream), and asynchronous ones that took more than
    three times the 25th percentile of such calls and returned only after their copy had begun (docs/design/whatif.md,
    "blocking copy"): with pageable memory the call first waits for the stream, and returns shortly before the
    copy's end. The percentile is taken as 10 µs at most, for runs in which every copy blocks.
    """
    calls, events = trace.calls, trace.device_events
    copying: Array = calls["kind"] == CallKind.COPY
    asynchronous = copying & named(trace, calls, "Async")
    durations = calls["duration_ns"]
    if not asynchronous.any():
        return copying
    usual = min(float(np.percentile(durations[asynchronous], 25)), _ASYNC_CALL_NS)
    begun = np.full(len(calls), np.iinfo(np.int64).max)
    linked = (events["call"] >= 0) & (events["kind"] == DeviceEventKind.COPY)
    begun[events["call"][linked]] = events["start_ns"][linked]
    stood = (begun < calls["start_ns"] + durations) & (durations > _BLOCKING_FACTOR * usual)
    mask: Array = (copying & ~asynchronous) | (asynchronous & stood)
    return mask


def _idle_after(results: Results, returns: Array) -> Array:
    device = results.get(DeviceActivity).primary
    if device is None or not len(device.busy.starts):
        return np.zeros(len(returns), np.int64)
    starts, ends = device.busy
    following = np.searchsorted(ends, returns, side="right")
    inside = following < len(starts)
    begins = starts[np.minimum(following, len(starts) - 1)]
    idle: Array = np.where(inside, np.maximum(begins - returns, 0), 0)
    return idle
