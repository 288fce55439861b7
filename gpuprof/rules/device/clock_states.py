"""What the rules about NVML's readings share: their abstention, and what lowered clocks cost."""

from __future__ import annotations

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Saving
from gpuprof.rules.saving.scope import Scope


def without_readings(rule: str, results: Results, readings: float, what: str) -> Abstention:
    """Too few readings under load, or none; `what` was to be read."""
    health = results.get(DeviceHealth)
    if not health.devices and results.get(DeviceActivity).recorded is None:
        return without_device(rule, results, what)
    return Abstention(
        rule,
        f"at least {readings:.0f} readings of {what} under load",
        "Profile a longer cell with `%%gpuprofile` (NVML sampling is on by default); a trace file has none."
        + (f" NVML said: {health.unavailable}." if health.unavailable else ""),
    )


def clock_saving(results: Results, share: float, slow: float | None, free: float | None) -> Saving | None:
    """docs/design/whatif.md, formula 11, with all of the compute time bound by the clock.

    `share` of the readings had the clock at `slow` MHz instead of `free`; None where a clock is not known.
    """
    primary = results.get(DeviceActivity).primary
    if primary is None or not slow or not free or slow >= free:
        return None
    high = primary.compute.total_ns * share * (1 - slow / free)
    return Scope.of(results).saving(0, high, high, "upper bound: all of the compute time follows the clock")
