"""Other processes use the same device.

What it finds
    Processes that the driver listed on the device both as the run began and as it ended, this one left out.

Why it costs
    Processes take turns on a device: while another computes, this one waits. Their memory is missing here, and every
    timing depends on what they do.

What to do
    See who it is with `nvidia-smi`; shut down the kernels of other notebooks that still hold the device, or choose a
    free device with `CUDA_VISIBLE_DEVICES`.

When to leave it
    When the device is shared on purpose: then compare timings with care.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceConditions
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold


@dataclass(frozen=True)
class DeviceShared(Rule):
    """See the module."""

    memory_share: float = threshold(0.25, "of the device’s memory in other hands: then it limits what fits here")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the devices that torch drives, or else all that were sampled."""
        if results.get(DeviceActivity).recorded is None:
            return without_device(self.name, results, "the processes on the device")
        devices = results.get(DeviceConditions).devices
        driven = [each for each in devices if each.facts.torch_index is not None] or list(devices)
        listed = [each for each in driven if each.others is not None]
        if not listed:
            return Abstention(
                self.name,
                "the driver’s list of processes on the device",
                "Profile the cell with `%%gpuprofile` where NVML is available; a trace file does not hold it.",
            )
        device = max(listed, key=lambda each: (each.others or 0, each.others_bytes or 0))
        if not device.others:
            return None
        held, memory = device.others_bytes, device.facts.memory_bytes
        share = held / memory if held and memory else None
        where = device.facts.name or "the device"
        holding = f", holding {units.size(held)} of its memory" if held else ""
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if share and share >= self.memory_share else Severity.LOW,
            title=f"{units.plural(device.others, 'other process', 'other processes')} used the device during the run",
            explanation=(
                f"The driver listed {units.plural(device.others, 'other process', 'other processes')} on {where}, both "
                f"as the run began and as it ended{holding}. What they compute, this run waits for."
            ),
            evidence={
                "other_processes": device.others,
                **({"other_processes_bytes": held} if held else {}),
                **({"memory_share": round(share, 4)} if share else {}),
            },
            change="See who it is with `nvidia-smi`; shut down kernels of other notebooks that still hold the device, "
            "or choose a free one with `CUDA_VISIBLE_DEVICES`.",
        )
