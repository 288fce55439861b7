"""Copies: how large, how fast, how much of each was hidden, how long the host stood in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Column, Table, TableSchema

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
    """Every copy (see COPIES) in order of start, and totals by direction (only those that occur)."""

    table: Table
    totals: Mapping[CopyKind, DirectionTotals]

    def of_direction(self, direction: CopyKind) -> Table:
        """The rows of one direction."""
        return self.table.take(self.table["direction"] == direction)
