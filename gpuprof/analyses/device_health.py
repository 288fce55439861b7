"""What the driver said of each device while the run went on: throttling, temperature, power, other processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.result import Result, Results
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class DeviceVitals:
    """One sampled device. None where the metric was never read.

    `samples` were taken, `under_load` of them while any kernel was resident in the driver's last period
    (utilisation > 0) with clock reasons read. `reason_share` maps a clock reason (`thermal_software`,
    `thermal_hardware`, `power_cap`, `power_brake`, `hardware_slowdown`, `clocks_set`, `sync_boost`) to the share of
    the samples under load that carry it; empty where none carries any, None where it cannot be said. `largest_gap_ns`
    is the longest time without a reading. `sm_clock_median_mhz` is under load, and `sm_clock_throttled_mhz` over
    the samples with a thermal reason. `other_processes` on the device: pid → bytes (None: not told); a process in
    another container may show under a number that means nothing here.
    """

    device: int
    name: str | None
    uuid: str | None
    samples: int
    under_load: int
    reason_share: dict[str, float] | None
    throttled_ranges_ns: tuple[tuple[int, int], ...]
    temperature_max_c: float | None
    temperature_slowdown_c: float | None
    power_mean_mw: float | None
    power_limit_mw: float | None
    sm_clock_median_mhz: float | None
    sm_clock_throttled_mhz: float | None
    sm_clock_max_mhz: int | None
    used_max_bytes: int | None
    memory_bytes: int | None
    other_processes: dict[int, int | None] | None
    largest_gap_ns: int | None


@dataclass(frozen=True)
class DeviceHealth(Result):
    """One entry per sampled device; empty where nothing was sampled, and then `unavailable` says why if known."""

    devices: tuple[DeviceVitals, ...]
    unavailable: str | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device samples and the sampler's facts."""
        raise NotImplementedError
