"""What each device did: busy and idle time, kernels, copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind, DeviceEventKind, HostMemory
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class CopyTotals:
    """Sums over the copies of one direction; `ns` adds durations, so simultaneous copies count twice.

    `pageable`, `pinned` and `unknown` count copies by the host memory they touch; copies within a device count nowhere.
    """

    count: int = 0
    bytes: int = 0
    ns: int = 0
    pageable: int = 0
    pinned: int = 0
    unknown: int = 0


@dataclass(frozen=True, eq=False)
class DeviceTotals:
    """One device over the trace's span.

    `busy_ns`: union over all streams of kernels, copies and memsets; `idle_ns` the rest of the span; `busy_share` of
    the span, 0..1. `kernel_ns` adds kernel durations (parallel ones count twice). `busy` and `compute` are unions;
    compute is kernels that are not collectives. `other`: copies between devices, within the host, or of unknown kind.
    """

    id: int
    name: str | None
    busy_ns: int
    idle_ns: int
    busy_share: float
    kernels: int
    kernel_ns: int
    h2d: CopyTotals
    d2h: CopyTotals
    d2d: CopyTotals
    other: CopyTotals
    busy: Intervals
    compute: Intervals


@dataclass(frozen=True, eq=False)
class DeviceActivity(Result):
    """Every device on which something was recorded, ascending by id.

    `recorded` is the trace's `device_recorded`: None no device, False launches without device events, True otherwise.
    """

    devices: tuple[DeviceTotals, ...]
    recorded: bool | None

    @property
    def primary(self) -> DeviceTotals | None:
        """The first device, the one that the time budget is about; None where no device activity was recorded."""
        return self.devices[0] if self.devices else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device events."""
        return cls(tuple(_use(trace, number) for number in trace.device_ids), trace.device_recorded)


def _use(trace: Trace, number: int) -> DeviceTotals:
    events = trace.device_events
    if len(trace.device_ids) > 1:
        events = events.take(events["device"] == number)
    kernel = events["kind"] == DeviceEventKind.KERNEL
    every = intervals.of(events)
    busy = intervals.clip(intervals.union(every), trace.span_start_ns, trace.span_end_ns)
    computing = kernel & ~events["collective"]
    copies = events.take(events["kind"] == DeviceEventKind.COPY)
    known = (CopyKind.H2D, CopyKind.D2H, CopyKind.D2D)
    h2d, d2h, d2d = (_totals(copies.take(copies["copy"] == direction)) for direction in known)
    rest = (copies["copy"] != CopyKind.H2D) & (copies["copy"] != CopyKind.D2H) & (copies["copy"] != CopyKind.D2D)
    return DeviceTotals(
        id=number,
        name=trace.device(number).name,
        busy_ns=busy.total_ns,
        idle_ns=trace.span_ns - busy.total_ns,
        busy_share=busy.total_ns / trace.span_ns if trace.span_ns else 0.0,
        kernels=int(kernel.sum()),
        kernel_ns=int(events["duration_ns"][kernel].sum()),
        h2d=h2d,
        d2h=d2h,
        d2d=d2d,
        other=_totals(copies.take(rest)),
        busy=busy,
        compute=intervals.union(Intervals(every.starts[computing], every.ends[computing])),
    )


def _totals(copies: Table) -> CopyTotals:
    memory, size = copies["host_memory"], copies["bytes"]
    return CopyTotals(
        count=len(copies),
        bytes=int(size[size > 0].sum()),
        ns=int(copies["duration_ns"].sum()),
        pageable=int((memory == HostMemory.PAGEABLE).sum()),
        pinned=int((memory == HostMemory.PINNED).sum()),
        unknown=int((memory == HostMemory.UNKNOWN).sum()),
    )
