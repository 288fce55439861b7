"""torch, CUDA, and whether the profiler records host and device."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gpuprof.capture.session.self_test import TorchFacts, describe_torch, probe_profiler
from gpuprof.doctor.check import Check

_PERMISSION = (
    "allow profiling for all users (NVreg_RestrictProfilingToAdminUsers=0, or --cap-add=SYS_ADMIN for a container) "
    "and close other profilers (nsys, ncu, DCGM profiling)"
)


def checks() -> Iterator[Check]:
    """What needs torch; takes one small profile."""
    facts = describe_torch()
    if facts.error:
        yield Check("torch", "broken", facts.error, "pip install torch")
        return
    yield Check("torch", "works", f"{facts.version}, {_build(facts)}")
    yield _device(facts)
    yield from _profiler(facts)
    if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        yield Check(
            "CUDA_LAUNCH_BLOCKING",
            "warning",
            "is 1: every launch waits for its kernel, times are not those of a normal run",
            "unset it and restart the kernel",
        )


def _build(facts: TorchFacts) -> str:
    if facts.hip_build:
        return f"built for ROCm {facts.hip_build}"
    return f"built for CUDA {facts.cuda_build}" if facts.cuda_build else "built for the CPU"


def _device(facts: TorchFacts) -> Check:
    if not facts.has_device:
        if facts.cuda_build or facts.hip_build:
            return Check(
                "device",
                "absent",
                "torch is built for a GPU but sees none",
                "check the driver (nvidia-smi) and CUDA_VISIBLE_DEVICES; without a GPU the host side is profiled",
            )
        return Check("device", "absent", "this torch cannot use a GPU: the host side is profiled")
    capability = ".".join(map(str, facts.capability or ()))
    found = f"{', '.join(facts.devices)}, compute capability {capability}"
    if not facts.knows_device:
        return Check(
            "device",
            "warning",
            f"{found}, which is not in torch's list ({', '.join(facts.architectures)})",
            "kernels are compiled at start or missing: install a torch built for this device",
        )
    return Check("device", "works", found)


def _profiler(facts: TorchFacts) -> Iterator[Check]:
    probe = probe_profiler()
    if probe.error:
        yield Check("torch.profiler", "broken", probe.error, "restart the kernel; if it persists, reinstall torch")
        return
    yield Check(
        "torch.profiler",
        "works" if probe.operators else "broken",
        f"recorded {probe.operators} operators in the probe",
    )
    if not facts.has_device:
        yield Check("CUPTI", "absent", "not tried: there is no device")
    elif probe.device_events:
        yield Check("CUPTI", "works", f"recorded {probe.device_events} device events in the probe")
    else:
        said = f": {probe.messages[0]}" if probe.messages else ""
        yield Check("CUPTI", "broken", f"launches are recorded, but no device activity{said}", _PERMISSION)
