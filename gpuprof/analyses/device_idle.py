"""Why the device was idle: every idle nanosecond gets exactly one cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Column, Table, TableSchema

CAUSES = ("idle_outside_steps", "idle_input", "idle_launch", "idle_sync", "idle_host", "idle_unexplained")

GAPS = TableSchema(
    "gaps",
    "one idle interval of the first device",
    (
        Column("start_ns", "int64", "ns", "when the device fell idle"),
        Column("end_ns", "int64", "ns", "when it began to work again"),
        Column("cause", "uint8", "index of CAUSES", "the cause of the largest part of it"),
    ),
)


@dataclass(frozen=True, eq=False)
class DeviceIdle(Result):
    """The idle time of the first device by cause.

    `gaps`: see GAPS. `parts`: for each of CAUSES the idle time it explains, disjoint unions that add up to the idle
    time exactly; `by_cause` their lengths in ns. Without device activity `device` is None, `gaps` and both mappings
    are empty.
    """

    device: int | None
    gaps: Table
    parts: Mapping[str, Intervals]
    by_cause: Mapping[str, int]

    @property
    def total_ns(self) -> int:
        """All idle time of the device in ns."""
        return sum(self.by_cause.values())
