"""What each line of the cell, and of functions defined in other cells, cost: on the host, on the device, in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.host_marks import launching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model.kinds import CopyKind, MemoryDevice
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

LINE_COSTS = TableSchema(
    "source_lines",
    "one line that ran",
    (
        Column("source_file", "int32", "row of the followed files", "0: the profiled cell"),
        Column("line", "int32", "line", "the line, from 1"),
        Column("times", "int64", "count", "how often it began, on any thread"),
        Column("host_ns", "int64", "ns", "its own time on the main thread: without lines of functions that it called"),
        Column("operators", "int64", "count", "outermost operators that it called"),
        Column("launches", "int64", "count", "launches from it"),
        Column("device_ns", "int64", "ns", "durations of the device work launched from it, added"),
        Column("sync_wait_ns", "int64", "ns", "time in it that the host waited for the device"),
        Column("input_wait_ns", "int64", "ns", "time that it waited for batches, the making of them included"),
        Column("h2d_bytes", "int64", "bytes", "bytes that it copied from the host to a device"),
        Column("d2h_bytes", "int64", "bytes", "bytes that it copied from a device to the host"),
        Column("allocated_bytes", "int64", "bytes", "bytes that torch allocated in it; -1 where not recorded"),
    ),
)


@dataclass(frozen=True, eq=False)
class LineCosts(Result):
    """Every line that ran in the recorded span, by file and line.

    `how`: see `LinePlaces`. `within_ns`: the part of the span in which lines were followed, `host_ns` how much of that
    is in `table`. `device_ns`: of all device work that was launched in that part, `device_known_ns` that of `table`.
    `allocated_on`: `device` or `host`, whose allocations are counted; None where none were recorded.
    """

    how: str | None
    table: Table
    within_ns: int
    host_ns: int
    device_ns: int
    device_known_ns: int
    allocated_on: str | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """By the line that the launching (calling, waiting, allocating) thread was in at that instant."""
        places = results.get(LinePlaces)
        keys = places.events["source_file"].astype(np.int64) << 32 | np.maximum(places.events["line"], 0)
        lines, number = np.unique(keys, return_inverse=True)
        number = number.reshape(-1)
        sums = _Sums(places, number, len(lines))
        own = places.own_ns(places.within)
        seen = places.events["begins"] & (places.end_ns > trace.span_start_ns)
        device_total, device_known = _device_totals(trace, places)
        memory, allocated_on = _allocations(trace)
        table = Table(
            LINE_COSTS,
            {
                "source_file": lines >> 32,
                "line": lines & 0xFFFFFFFF,
                "times": np.bincount(number[seen], minlength=len(lines)),
                "host_ns": np.bincount(number, weights=own, minlength=len(lines)).astype(np.int64),
                **_work(trace, sums),
                **_waits(results, sums),
                **_copied(trace, results, sums),
                "allocated_bytes": sums.at(memory["thread"], memory["time_ns"], memory["bytes"])
                if allocated_on
                else np.full(len(lines), -1),
            },
        )
        ran = (table["line"] > 0) & np.any([table[name] for name in ("times", "host_ns", "device_ns")], axis=0)
        return cls(
            how=places.how,
            table=table.take(ran),
            within_ns=places.within.total_ns,
            host_ns=int(own.sum()),
            device_ns=device_total,
            device_known_ns=device_known,
            allocated_on=allocated_on,
        )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Adds values up by the line of an instant on a thread; each sum has the shape `(lines,)`."""

    places: LinePlaces
    number: Array
    lines: int

    def at(self, threads: Array, times: Array, values: Array | None = None) -> Array:
        rows = self.places.at(threads, times)
        known = rows >= 0
        weights = None if values is None else values[known]
        return np.bincount(self.number[rows[known]], weights=weights, minlength=self.lines).astype(np.int64)


def _device_totals(trace: Trace, places: LinePlaces) -> tuple[int, int]:
    events = trace.device_events
    threads, times = issued_at(trace, events)
    if not len(places.within.starts):
        return 0, 0
    inside = (times >= places.within.starts[0]) & (times < places.within.ends[-1])
    known = places.at(threads, times) >= 0
    return int(events["duration_ns"][inside].sum()), int(events["duration_ns"][known].sum())


def _work(trace: Trace, sums: _Sums) -> dict[str, Array]:
    outermost = trace.operators.take(trace.operators["parent"] < 0)
    launches = trace.calls.take(launching(trace.calls))
    events = trace.device_events
    return {
        "operators": sums.at(outermost["thread"], outermost["start_ns"]),
        "launches": sums.at(launches["thread"], launches["start_ns"]),
        "device_ns": sums.at(*issued_at(trace, events), events["duration_ns"]),
    }


def _waits(results: Results, sums: _Sums) -> dict[str, Array]:
    waits, pipeline = results.get(SyncWaits).table, results.get(InputPipeline)
    on_main = np.full(len(pipeline.start_ns), results.trace.main_thread)
    return {
        "sync_wait_ns": sums.at(waits["thread"], waits["start_ns"], waits["duration_ns"]),
        "input_wait_ns": sums.at(on_main, pipeline.start_ns, pipeline.duration_ns),
    }


def _copied(trace: Trace, results: Results, sums: _Sums) -> dict[str, Array]:
    found = {}
    for name, direction in (("h2d_bytes", CopyKind.H2D), ("d2h_bytes", CopyKind.D2H)):
        copies = results.get(Copies).of_direction(direction)
        found[name] = sums.at(*issued_at(trace, copies), np.maximum(copies["bytes"], 0))
    return found


def _allocations(trace: Trace) -> tuple[Table, str | None]:
    """The allocations (not the releases) on devices, or on the host where no device allocated anything."""
    grown = trace.memory.take(trace.memory["bytes"] > 0)
    on_device = grown["device_type"] != MemoryDevice.CPU
    if on_device.any():
        return grown.take(on_device), "device"
    return grown, "host" if len(grown) else None
