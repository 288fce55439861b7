"""The device's PCIe link is narrower or slower than device and machine allow.

What it finds
    A link generation or width below the maximum that the driver gives for this device in this machine, in nearly all
    readings under load. (Idle devices lower their link to save power, so idle readings do not count.)

Why it costs
    Copies between host and device, and between devices without NVLink, take longer in proportion. Kernels do not.

What to do
    Reseat the card, try another slot or without the riser, look at the slot's lanes in the BIOS (a second card or SSD
    may share them), and at the forced generation there.

When to leave it
    When copies are hidden under compute, or on a machine that is not yours to open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceCondition, DeviceConditions
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.device.clock_states import without_readings
from gpuprof.rules.saving.scope import Scope

# bytes/s of one lane, from the PCI Express base specifications, encoding overhead taken off
_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
_LARGE_BYTES = 1 << 20


@dataclass(frozen=True)
class PcieLinkDegraded(Rule):
    """See the module."""

    below_share: float = threshold(0.9, "of the readings under load: a link that only wakes up late is no fault")
    exposed_share: float = threshold(0.03, "of the step in copies with no compute: from there on it matters here")
    readings: float = threshold(5, "under load (the link is read once a second): fewer say too little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the links."""
        devices = [each for each in results.get(DeviceConditions).devices if each.link_readings >= self.readings]
        if not devices:
            return without_readings(self.name, results, self.readings, "the device’s PCIe link")
        device = max(devices, key=lambda each: known(each.link_below_share))
        possible = _rate(device.facts.pcie_max_generation, device.facts.pcie_max_width)
        now = _rate(device.link_generation, device.link_width)
        if known(device.link_below_share) < self.below_share or now is None or possible is None or now >= possible:
            return None
        fastest = _fastest(results)
        if fastest is not None and fastest > now:
            return None  # copies go faster than the link that the driver gives: it is wrong
        return self._finding(results, device, now, possible)

    def _finding(self, results: Results, device: DeviceCondition, now: float, possible: float) -> Finding:
        primary, scope = results.get(DeviceActivity).primary, Scope.of(results)
        exposed_ns = 0
        if primary is not None:
            copies = results.get(Copies).table
            host = copies.take(np.isin(copies["direction"], (CopyKind.H2D, CopyKind.D2H)))
            exposed = intervals.subtract(intervals.union(intervals.of(host)), primary.compute)
            exposed_ns = intervals.intersect(exposed, scope.within).total_ns
        matters = scope.share(exposed_ns) >= self.exposed_share
        facts, link = device.facts, f"generation {device.link_generation} × {device.link_width} lanes"
        most = f"generation {facts.pcie_max_generation} × {facts.pcie_max_width}"
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if matters else Severity.LOW,
            title=f"The PCIe link runs at {units.percent(now / possible)} of what device and machine allow",
            explanation=(
                f"In {units.percent(device.link_below_share)} of {units.plural(device.link_readings, 'reading')} under "
                f"load the link of {facts.name or 'the device'} was below {most}; typically {link}: "
                f"{units.rate(now)} instead of {units.rate(possible)}. Copies without compute take "
                f"{units.percent(scope.share(exposed_ns))} of {scope.words}."
            ),
            evidence={
                "link_generation": known(device.link_generation),
                "link_width": known(device.link_width),
                "possible_generation": known(facts.pcie_max_generation),
                "possible_width": known(facts.pcie_max_width),
                "below_share": round(known(device.link_below_share), 4),
                "exposed_copies_ms": units.milliseconds(exposed_ns),
            },
            change="Reseat the card, try another slot or without the riser, and look at the slot’s lanes and the "
            "forced generation in the BIOS.",
            saving=_saving(scope, exposed_ns, now / possible) if matters else None,
        )


def _rate(generation: int | None, width: int | None) -> float | None:
    lane = _LANE.get(generation or 0)
    return None if lane is None or not width or width < 0 else lane * width


def _fastest(results: Results) -> float | None:
    """The fastest large copy between pinned memory and a device."""
    copies = results.get(Copies).table
    host = np.isin(copies["direction"], (CopyKind.H2D, CopyKind.D2H)) & (copies["host_memory"] == HostMemory.PINNED)
    rates = copies["bandwidth_bytes_per_s"][host & (copies["bytes"] >= _LARGE_BYTES)]
    rates = rates[~np.isnan(rates)]
    return float(rates.max()) if len(rates) else None


def _saving(scope: Scope, exposed_ns: int, quotient: float) -> Saving:
    bound = exposed_ns * (1 - quotient)
    return scope.saving(0, bound, bound, "upper bound: copies faster by as much as the link")
