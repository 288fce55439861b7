"""The device reported errors during the run.

What it finds
    New uncorrected memory errors (ECC) between the beginning and the end of the run, or a device that stopped
    answering the driver.

Why it costs
    An uncorrected error can spoil a result or end the process; a device that falls off the bus takes the run with it.
    No timing of such a run can be trusted.

What to do
    Restart the kernel, look at `nvidia-smi -q -d ECC,ROW_REMAPPER` and the system's log for XID messages, and have the
    device reset or replaced before going on.

When to leave it
Never: results of this run may be wrong. The cause has to be known first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceConditions
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule


@dataclass(frozen=True)
class DeviceErrors(Rule):
    """See the module."""

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge every sampled device."""
        facts = [each.facts for each in results.get(DeviceConditions).devices]
        lost = [each for each in facts if each.lost_at_ns is not None]
        counted = [each for each in facts if each.ecc_uncorrected is not None]
        broken = [each for each in counted if each.ecc_uncorrected]
        if not lost and not counted:
            if facts:
                return None
            if results.get(DeviceActivity).recorded is None:
                return without_device(self.name, results, "the device’s error counters")
            return Abstention(
                self.name,
                "the device’s error counters",
                "Profile the cell with `%%gpuprofile` where NVML is available; a trace file does not hold them.",
            )
        if not lost and not broken:
            return None
        device = (lost or broken)[0]
        name, errors = device.name or "The device", sum(each.ecc_uncorrected or 0 for each in broken)
        counts = f"{units.plural(errors, 'new uncorrected memory error')} on {name}"
        return Finding(
            rule=self.name,
            severity=Severity.HIGH,
            title="A device stopped answering during the run"
            if lost
            else "The device had uncorrected memory errors during the run",
            explanation=(
                f"{name} no longer answered the driver.{f' Besides, there were {counts}.' if errors else ''}"
                if lost
                else f"The driver counted {counts} between the beginning and the end of the run."
            ),
            evidence={"devices_lost": len(lost), "uncorrected_errors": errors},
            change="Restart the kernel, look at `nvidia-smi -q -d ECC,ROW_REMAPPER` and the system’s log (XID), and "
            "have the device reset or replaced before going on.",
        )
