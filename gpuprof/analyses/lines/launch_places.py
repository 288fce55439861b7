"""Which lines of the profiled cell caused what ran on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class LaunchPlaces(Result):
    """Of every device event the `thread` and the instant `time_ns` of what caused it (see `issued_at`), and its
    `duration_ns`; arrays of the shape of `device_events`. `places`: the lines that the threads were in."""

    places: LinePlaces
    thread: Array
    time_ns: Array
    duration_ns: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the launches, else the operators, of the device events."""
        thread, time_ns = issued_at(trace, trace.device_events)
        return cls(results.get(LinePlaces), thread, time_ns, trace.device_events["duration_ns"])

    def lines(self, rows: Array) -> tuple[int, ...]:
        """The lines of the cell that launched these rows of `device_events`: the three with most of their time."""
        return self.places.lines_at(self.thread[rows], self.time_ns[rows], self.duration_ns[rows])
