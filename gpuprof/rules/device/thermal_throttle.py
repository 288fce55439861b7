"""The device slows down because it is too hot.

What it finds
    NVML's own reasons for lowered clocks, read while the device was under load, naming heat in more than a fifth of the
    readings. Low clocks alone prove nothing, so they are not judged.

Why it costs
    At the thermal limit the driver lowers the clocks until the heat is carried away; kernels bound by arithmetic slow
    down in proportion, and the same cell takes a different time each run.

What to do
    Cooling first: air flow, dust, fans, the neighbour card, the room. Where it cannot be bettered, a lower power limit
    (`nvidia-smi -pl`) keeps the clocks steadier at nearly the same speed.

When to leave it
    On a machine that is not yours to change: then only know that its timings vary.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_health import DeviceHealth, DeviceVitals
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.device.clock_states import clock_saving, without_readings
from gpuprof.rules.saving.scope import MOST_RANGES


@dataclass(frozen=True)
class ThermalThrottle(Rule):
    """See the module."""

    throttled_share: float = threshold(0.20, "of the readings under load: less is a passing peak")
    high_share: float = threshold(0.60, "of the readings under load: the device is never at its speed")
    readings: float = threshold(10, "under load: fewer say too little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the hottest device."""
        read = [each for each in results.get(DeviceHealth).devices if each.thermal_share is not None]
        hottest = max(read, key=lambda each: known(each.thermal_share), default=None)
        if hottest is None or hottest.under_load < self.readings:
            return without_readings(self.name, results, self.readings, "the device’s clock reasons")
        share = known(hottest.thermal_share)
        return self._finding(results, hottest, share) if share > self.throttled_share else None

    def _finding(self, results: Results, device: DeviceVitals, share: float) -> Finding:
        slow, free = device.clock_thermal_mhz, device.clock_free_mhz or device.clock_max_mhz
        facts: dict[str, float | int | None] = {
            "throttled_share": round(share, 4),
            "readings_under_load": device.under_load,
            "temperature_max_c": device.temperature_max_c,
            "slowdown_temperature_c": device.temperature_slowdown_c,
            "sm_clock_throttled_mhz": slow,
            "sm_clock_otherwise_mhz": free,
            "power_mean_w": None if device.power_mean_mw is None else round(device.power_mean_mw / 1000, 1),
        }
        clocks = f" The SM clock was {slow:.0f} MHz then, {free:.0f} MHz otherwise." if slow and free else ""
        hot = f" at up to {device.temperature_max_c:.0f} °C" if device.temperature_max_c is not None else ""
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if share >= self.high_share else Severity.MEDIUM,
            title=f"Heat slows the device down in {units.percent(share)} of the readings under load",
            explanation=(
                f"NVML named heat as the reason for lowered clocks in {units.percent(share)} of "
                f"{units.plural(device.under_load, 'reading')} under load, on {device.name or 'the device'}{hot}."
                f"{clocks}"
            ),
            evidence={name: value for name, value in facts.items() if value is not None},
            where=Where(ranges_ns=device.thermal_ranges_ns[:MOST_RANGES]),
            change="See to the cooling: air flow, dust, fans, the neighbour card. Where it cannot be bettered, a lower "
            "power limit (`nvidia-smi -pl`) keeps clocks steadier at nearly the same speed.",
            saving=clock_saving(results, share, slow, free),
        )
