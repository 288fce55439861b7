"""This torch has no code of its own for the device.

What it finds
    A device whose compute capability is not among those that this build of torch was compiled for, neither exactly nor
    by an earlier one of the same generation, as read from torch while the run was on.

Why it costs
    The driver then compiles every kernel at its first use, from code that was written for an older generation: minutes
    at the start, and none of what the newer device can do better. Without such code kernels do not run at all.

What to do
    Install a build of torch for this generation of devices (a newer CUDA version of the same torch is often enough).

When to leave it
    When the versions are fixed by others; then warm up before measuring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.model.device import Device
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule

_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)(\d)[a-z]?$")


@dataclass(frozen=True)
class StackOutdated(Rule):
    """See the module."""

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the devices that were used."""
        environment = results.context.environment
        if results.get(DeviceActivity).recorded is None:
            return without_device(self.name, results, "what torch was compiled for")
        listing = (environment.architectures or ()) if environment else ()
        built = [match for match in map(_ARCHITECTURE.match, listing) if match]
        used = [device for device in results.devices if device.compute_capability and not device.is_amd]
        if environment is not None and environment.hip_build:
            return None
        if environment is None or not built or not used:
            return Abstention(
                self.name,
                "what this torch was compiled for, and the device’s compute capability",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold them.",
            )
        code = {(int(match[2]), int(match[3])) for match in built if match[1] == "sm"}
        missing = [device for device in used if not _covered(device, code)]
        if not missing:
            return None
        device, (major, minor) = missing[0], missing[0].compute_capability or (0, 0)
        listed = ", ".join(f"{a}.{b}" for a, b in sorted(code)) or "no device"
        name = device.name or "The device"
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM,
            title=f"This torch has no code for a device of compute capability {major}.{minor}",
            explanation=(
                f"{name} has compute capability {major}.{minor}; torch {environment.torch} was compiled for {listed}. "
                "The driver compiles its kernels at their first use, from code for an older generation."
            ),
            evidence={
                "compute_capability": f"{major}.{minor}",
                "compiled_for": listed,
                "torch": environment.torch,
                "cuda_build": environment.cuda_build or "none",
            },
            change=f"Install a build of torch for compute capability {major}.{minor}: a newer torch, or the same one "
            "with a newer CUDA version.",
        )


def _covered(device: Device, code: set[tuple[int, int]]) -> bool:
    """Code runs on later devices of its own generation (CUDA C++ Programming Guide, binary compatibility)."""
    major, minor = device.compute_capability or (0, 0)
    return any(built == major and revision <= minor for built, revision in code)
