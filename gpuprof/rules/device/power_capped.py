"""The device lowers its clocks to stay within its power limit.

What it finds
    NVML's own reason for lowered clocks, read while the device was under load, naming the power limit in more than a
    fifth of the readings. It weighs more where somebody has set the limit below what the board comes with.

Why it costs
    Kernels bound by arithmetic slow down with the clock. At the board's own limit that is how it is built: large
    matrix multiplications reach the limit before they reach the highest clock.

What to do
    A limit below the board's own can be raised (`nvidia-smi -pl`, as administrator) where power supply and cooling
    allow. At the board's own limit only less power for each operation helps: lower precision, fewer bytes moved.

When to leave it
    When the limit was set for a reason (power supply, cooling, several devices in a case), or at the board's own limit:
    then only know why the clock is below its maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceCondition, DeviceConditions
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.device.clock_states import clock_saving, without_readings


@dataclass(frozen=True)
class PowerCapped(Rule):
    """See the module."""

    capped_share: float = threshold(0.20, "of the readings under load: less is a passing peak")
    clock_share: float = threshold(
        0.80, "of the clock otherwise: heavy kernels at the board’s own limit often get so far"
    )
    lowered_share: float = threshold(0.97, "of the clock otherwise: above it a lowered limit costs nothing to speak of")
    readings: float = threshold(10, "under load: fewer say too little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the device that is capped most."""
        devices = results.get(DeviceConditions).devices
        most = max(devices, key=lambda each: each.share_by_reason.get("power_cap", 0.0), default=None)
        if most is None or most.readings < self.readings:
            return without_readings(self.name, results, self.readings, "the device’s clock reasons")
        share, slow = most.share_by_reason.get("power_cap", 0.0), most.clock_by_reason_mhz.get("power_cap")
        if share <= self.capped_share:
            return None
        limit, default = most.facts.power_limit_mw, most.facts.power_limit_default_mw
        free = most.clock_free_mhz or most.facts.sm_clock_max_mhz
        lowered = limit is not None and default is not None and limit < default
        if not slow or not free or slow >= (self.lowered_share if lowered else self.clock_share) * free:
            return None
        return self._finding(results, most, share, slow, free, lowered=lowered)

    def _finding(
        self,
        results: Results,
        device: DeviceCondition,
        share: float,
        slow: float,
        free: float,
        *,
        lowered: bool,
    ) -> Finding:
        limit, default = device.facts.power_limit_mw, device.facts.power_limit_default_mw
        facts = {
            "capped_share": round(share, 4),
            "readings_under_load": device.readings,
            "sm_clock_capped_mhz": slow,
            "sm_clock_otherwise_mhz": free,
            "power_limit_w": None if limit is None else limit / 1000,
            "power_limit_default_w": None if default is None else default / 1000,
        }
        of = f" of {limit / 1000:.0f} W" if limit else ""
        board = f", which the board comes with {default / 1000:.0f} W for" if lowered and default else ""
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if lowered else Severity.LOW,
            title=f"The power limit{of} lowers the clocks in {units.percent(share)} of the readings under load",
            explanation=(
                f"NVML named the power limit{of}{board}, as the reason for lowered clocks in {units.percent(share)} of "
                f"{units.plural(device.readings, 'reading')} under load, on {device.facts.name or 'the device'}."
                f" The SM clock was {slow:.0f} MHz then, {free:.0f} MHz "
                f"{'otherwise' if device.clock_free_mhz else 'at most'}."
            ),
            evidence={name: value for name, value in facts.items() if value is not None},
            change=(
                f"Raise the limit to the board’s own {default / 1000:.0f} W (`nvidia-smi -pl`, as administrator), "
                "where power supply and cooling allow."
                if lowered and default
                else "Nothing on the machine: this is the limit it comes with, as far as the driver says. Lower "
                "precision and fewer bytes moved take less power for the same work."
            ),
            saving=clock_saving(results, share, slow, free) if lowered else None,
        )
