"""Which lines of the cell allocated what was live at the peak of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class PeakLines(Result):
    """By device (None: the host), the lines of the profiled cell that hold most of its peak, three at most, ascending.

    Of what the allocator's rows show: what was allocated before the recording began has no line. Nothing where the
    rows have no addresses, or no line was followed. A layer's activations count for the line that called the model.
    """

    by_device: dict[int | None, tuple[int, ...]]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the rows up to the peak, by address, and the line that the allocating thread was in."""
        peak, places = results.get(MemoryPeak), results.get(LinePlaces)
        uses = [*peak.devices, *([peak.host] if peak.host else [])]
        if places.how is None:
            return cls({})
        return cls({use.device: _lines(trace, places, use) for use in uses if use.peak_at_ns is not None})

    def of_device(self, device: int | None) -> tuple[int, ...]:
        """The lines for that device; nothing where none is known."""
        return self.by_device.get(device, ())


def _lines(trace: Trace, places: LinePlaces, use: MemoryUse) -> tuple[int, ...]:
    memory = trace.memory.take(_live(trace, use))
    return places.lines_at(memory["thread"], memory["time_ns"], memory["bytes"])


def _live(trace: Trace, use: MemoryUse) -> Array:
    """The rows that allocated what was not released again by the peak."""
    memory = trace.memory
    on_host = memory["device_type"] == MemoryDevice.CPU
    mine = on_host if use.device is None else ~on_host & (memory["device"] == use.device)
    rows = np.flatnonzero(mine & (memory["time_ns"] <= (use.peak_at_ns or 0)) & (memory["address"] >= 0))
    rows = rows[np.argsort(memory["time_ns"][rows], kind="stable")][::-1]
    last = rows[np.unique(memory["address"][rows], return_index=True)[1]]
    return last[memory["bytes"][last] > 0]
