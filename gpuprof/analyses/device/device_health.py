"""What the driver said of each device while the run went on: throttling, temperature, power, other processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# nvmlClocksEventReasons, from the NVML API reference
REASONS = {
    "clocks_set": 0x2,
    "power_cap": 0x4,
    "hardware_slowdown": 0x8,
    "sync_boost": 0x10,
    "thermal_software": 0x20,
    "thermal_hardware": 0x40,
    "power_brake": 0x80,
    "display_clocks": 0x100,
}
THERMAL = REASONS["thermal_software"] | REASONS["thermal_hardware"]


@dataclass(frozen=True)
class DeviceVitals:
    """One sampled device; `torch_index` is torch's number for it. None where the metric was never read.

    `readings` were taken, `under_load` of them with a kernel resident in the driver's last period (utilisation > 0) and
    the clock reasons read. `reason_share` maps each of REASONS that occurs to the share (0..1) of the readings under
    load that carry it, `thermal_share` is that of either thermal reason; None without readings under load.
    `thermal_ranges_ns`: from the first to the last of consecutive readings with a thermal reason. Clocks are of the
    SMs, medians under load: with a thermal reason and without any reason that lowers them.
    `power_mean_mw` is over the readings under load.
    `other_processes`: how many compute processes beside this one the driver listed at the start or end.
    """

    device: int
    torch_index: int | None
    name: str | None
    readings: int
    under_load: int
    reason_share: dict[str, float] | None
    thermal_share: float | None
    thermal_ranges_ns: tuple[tuple[int, int], ...]
    temperature_max_c: float | None
    temperature_slowdown_c: int | None
    power_mean_mw: float | None
    power_limit_mw: int | None
    clock_thermal_mhz: float | None
    clock_free_mhz: float | None
    clock_max_mhz: int | None
    used_max_bytes: int | None
    memory_bytes: int | None
    other_processes: int | None


@dataclass(frozen=True)
class DeviceHealth(Result):
    """One entry per sampled device; empty where nothing was sampled, and then `unavailable` says why if known."""

    devices: tuple[DeviceVitals, ...]
    unavailable: str | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device readings and the sampler's facts."""
        readings, sampling = trace.device_readings, trace.context.sampling
        facts = device_facts(trace)
        unavailable = sampling.get("unavailable")
        return cls(
            tuple(
                _vitals(int(i), readings.take(readings["device"] == i), facts[i] if i < len(facts) else DeviceFacts())
                for i in np.unique(readings["device"])
                if i >= 0
            ),
            unavailable if isinstance(unavailable, str) else None,
        )


def device_facts(trace: Trace) -> tuple[DeviceFacts, ...]:
    """What the sampler knows of each sampled device, by its row; empty where nothing was sampled."""
    try:
        return msgspec.convert(trace.context.sampling.get("static") or (), tuple[DeviceFacts, ...])
    except msgspec.ValidationError:
        return ()


def _vitals(device: int, readings: Table, facts: DeviceFacts) -> DeviceVitals:
    readings = readings.take(np.argsort(readings["time_ns"], kind="stable"))
    reasons, times = readings["clock_reasons"], readings["time_ns"]
    loaded = (readings["utilisation_percent"] > 0) & (reasons >= 0)
    hot = loaded & ((reasons & THERMAL) != 0)
    free = loaded & ((reasons & ~1) == 0)
    count = int(loaded.sum())
    shares = {name: float(((reasons & bit) != 0)[loaded].mean()) for name, bit in REASONS.items()} if count else None
    return DeviceVitals(
        device=device,
        torch_index=facts.torch_index,
        name=facts.name,
        readings=len(readings),
        under_load=count,
        reason_share={name: share for name, share in shares.items() if share} if shares else None,
        thermal_share=float(hot[loaded].mean()) if count else None,
        thermal_ranges_ns=_ranges(times, hot),
        temperature_max_c=_over(np.nanmax, readings["temperature_c"]),
        temperature_slowdown_c=facts.temperature_slowdown_c,
        power_mean_mw=_over(np.mean, readings["power_mw"][loaded]),
        power_limit_mw=facts.power_limit_mw,
        clock_thermal_mhz=_over(np.median, readings["sm_clock_mhz"][hot]),
        clock_free_mhz=_over(np.median, readings["sm_clock_mhz"][free]),
        clock_max_mhz=facts.sm_clock_max_mhz,
        used_max_bytes=_whole(_over(np.max, readings["memory_used_bytes"])),
        memory_bytes=facts.memory_bytes,
        other_processes=_others(facts),
    )


def _over(figure: Callable[[Array], Any], values: Array) -> float | None:
    read = values[~np.isnan(values)] if values.dtype.kind == "f" else values[values >= 0]
    return float(figure(read)) if len(read) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _ranges(times: Array, marked: Array) -> tuple[tuple[int, int], ...]:
    edges = np.diff(np.concatenate(([0], marked.astype(np.int8), [0])))
    firsts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return tuple((int(times[a]), int(times[b - 1])) for a, b in zip(firsts, stops, strict=True))


def _others(facts: DeviceFacts) -> int | None:
    listed = [each for each in (facts.processes_start, facts.processes_end) if each is not None]
    # this process is one of them as soon as it has a context
    return max(len(each) for each in listed) - 1 if any(listed) else (0 if listed else None)
