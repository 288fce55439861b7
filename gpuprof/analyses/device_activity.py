"""What each device did: busy and idle time, kernels, copies."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.intervals import Intervals


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
class DeviceUse:
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

    devices: tuple[DeviceUse, ...]
    recorded: bool | None

    @property
    def primary(self) -> DeviceUse | None:
        """The first device, the one that the time budget is about; None where no device activity was recorded."""
        return self.devices[0] if self.devices else None
