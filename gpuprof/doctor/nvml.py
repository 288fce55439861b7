"""NVML: the driver's own readings."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

from gpuprof.doctor.check import Check


def checks() -> Iterator[Check]:
    """Take one reading of every device."""
    clash = {name.lower() for name in importlib.metadata.packages_distributions().get("pynvml", ())} - {"nvidia-ml-py"}
    if clash:
        yield Check(
            "nvidia-ml-py",
            "warning",
            f"the module pynvml also comes from {', '.join(sorted(clash))}, which is out of date",
            f"pip uninstall {' '.join(sorted(clash))}, then pip install --force-reinstall nvidia-ml-py",
        )
    from gpuprof.capture.nvml.device_sampler import DeviceSampler

    sampler = DeviceSampler(None, hz=10.0)
    sampler.start()
    log = sampler.stop()
    if log.unavailable:
        yield Check("NVML", "absent", log.unavailable, "without it utilisation, power and temperature are unknown")
        return
    names = ", ".join(device.name or "unknown device" for device in log.static)
    if log.metric_errors:
        missing = ", ".join(f"{metric} ({why})" for metric, why in sorted(log.metric_errors.items()))
        yield Check("NVML", "warning", f"{names}; cannot read {missing}", "normal under MIG, WSL and old drivers")
    else:
        yield Check("NVML", "works", names)
