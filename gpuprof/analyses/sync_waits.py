"""Sync waits: where the host stood still for the device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gpuprof.analyses.result import Result
from gpuprof.model.table import Column, Table, TableSchema


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
            "the outermost operator around it, the one a user wrote (aten::item, aten::nonzero); -1 if none",
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

    `total_ns` adds their durations; `per_step` and `per_step_ns` are means over the steps (waits outside steps left
    out), None without steps.
    """

    table: Table
    count: int
    total_ns: int
    per_step: float | None
    per_step_ns: float | None
