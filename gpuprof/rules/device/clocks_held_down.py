"""The clocks are held below their maximum by a setting or by the hardware, not by heat or the power limit.

What it finds
    NVML's own reasons for lowered clocks, read while the device was under load: application or locked clocks, sync
    boost, a hardware slowdown, the external power brake, a display; in more than a fifth of the readings, with the SM
    clock more than a tenth below its maximum.

Why it costs
    Kernels bound by arithmetic slow down in proportion to the clock.

What to do
    It depends on the reason: reset application clocks (`nvidia-smi -rac`) and locked clocks (`nvidia-smi -rgc`); see to
    the power supply and its cables for a power brake or hardware slowdown; leave the sync boost group.

When to leave it
    When the clocks were locked on purpose, for steady timings.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceCondition, DeviceConditions
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.device.clock_states import clock_saving, without_readings

_REASONS = {
    "clocks_set": (
        "application or locked clocks",
        "reset application clocks with `nvidia-smi -rac` and locked clocks with `nvidia-smi -rgc`, as administrator",
    ),
    "power_brake": (
        "the external power brake",
        "the power supply asks the device to slow down: see to its load and its cables",
    ),
    "hardware_slowdown": ("a hardware slowdown", "see to the power supply, its cables, and the cooling"),
    "sync_boost": ("sync boost", "take the device out of its sync boost group: it waits for the slowest one there"),
    "display_clocks": ("a display", "run the display on another device"),
}


@dataclass(frozen=True)
class ClocksHeldDown(Rule):
    """See the module."""

    held_share: float = threshold(0.20, "of the readings under load: less is a passing state")
    clock_share: float = threshold(0.90, "of the maximum clock: above it little is lost")
    readings: float = threshold(10, "under load: fewer say too little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the device that is held down most."""
        devices = results.get(DeviceConditions).devices
        if max((each.readings for each in devices), default=0) < self.readings:
            return without_readings(self.name, results, self.readings, "the device’s clock reasons")
        held = [(device, reason) for device in devices for reason in _REASONS if self._holds(device, reason)]
        if not held:
            return None
        device, reason = max(held, key=lambda each: each[0].share_by_reason[each[1]])
        return self._finding(results, device, reason)

    def _holds(self, device: DeviceCondition, reason: str) -> bool:
        slow, most = device.clock_by_reason_mhz.get(reason), device.facts.sm_clock_max_mhz
        often = device.readings >= self.readings and device.share_by_reason.get(reason, 0.0) > self.held_share
        return often and slow is not None and most is not None and slow < self.clock_share * most

    def _finding(self, results: Results, device: DeviceCondition, reason: str) -> Finding:
        share, slow = device.share_by_reason[reason], device.clock_by_reason_mhz[reason]
        free = device.clock_free_mhz or device.facts.sm_clock_max_mhz or slow
        words, change = _REASONS[reason]
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM,
            title=f"The clocks are held at {slow:.0f} MHz by {words}",
            explanation=(
                f"NVML named {words} as the reason for lowered clocks in {units.percent(share)} of "
                f"{units.plural(device.readings, 'reading')} under load, on {device.facts.name or 'the device'}. The "
                f"SM clock was {slow:.0f} MHz then; {free:.0f} MHz "
                f"{'were reached otherwise' if device.clock_free_mhz else 'are possible'}."
            ),
            evidence={
                "reason": reason,
                "held_share": round(share, 4),
                "readings_under_load": device.readings,
                "sm_clock_held_mhz": slow,
                "sm_clock_possible_mhz": free,
            },
            change=f"{change[0].upper()}{change[1:]}.",
            saving=clock_saving(results, share, slow, free),
        )
