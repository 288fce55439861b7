"""One capture with CUPTI and NVML: are all launches matched, do the clocks agree, what was sampled under load?"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from benchmarks.gpu_check import cells, recorded, training
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.analyses.run.launches import CLOCK_TOLERANCE_NS
from gpuprof.model.schema import DEVICE_READINGS

_LOAD = """\
import time
import torch
n = 4096 if device == "cuda" else 128
a = torch.randn(n, n, device=device)
until = time.monotonic() + seconds
while time.monotonic() < until:
    for _ in range(20):
        b = a @ a
    b.sum().item()
"""


def run(check: Check) -> None:
    for size in ("mini",) if check.small else ("host_bound", "balanced", "device_bound"):
        namespace = training.sized(size, check.device, steps=30)
        cells.enter(training.SETUP, namespace)
        run_of_it = cells.play(training.CELL, namespace).run
        facts = recorded.describe(run_of_it)
        check.note(**{size: facts})
        recorded.keep(check, run_of_it, size)
        # long steps: the recording leaves most of the cell alone
        check.expect(f"{size}: steps are found", facts["steps"] >= 5)
        check.only_on_device(f"{size}: kernels are recorded", facts["device_events"]["kernel"] > 0)
        share = facts["launches_with_kernel_share"]
        check.only_on_device(f"{size}: 99 % of the launches have their kernel", share is not None and share >= 0.99)
        check.only_on_device(f"{size}: no kernel begins before its launch", facts["clock_ok"] is True)
        back = (facts["lags_ns"]["end_to_return"] or {}).get("least")
        check.only_on_device(
            f"{size}: no wait returns before its work ends", back is None or back >= -CLOCK_TOLERANCE_NS
        )
        check.only_on_device(f"{size}: synchronisation events are recorded", facts["syncs"] > 0)
        offset = facts["clock_offset_ns"]
        check.expect(f"{size}: profiler and system clock agree", offset is not None and abs(offset) < 1_000_000)
    _under_load(check)


def _under_load(check: Check) -> None:
    """NVML over some seconds of matrix products."""
    namespace = {"__name__": "__main__", "device": check.device, "seconds": 0.5 if check.small else 4.0}
    run_of_it = cells.play(_LOAD, namespace, max_seconds=0.3).run
    samples = run_of_it.trace.device_readings
    seen = {
        column.name: [float(np.min(samples[column.name])), float(np.max(samples[column.name]))]
        for column in DEVICE_READINGS.columns
        if len(samples)
    }
    health = [asdict(device) for device in run_of_it.report_data.results.get(DeviceHealth).devices]
    check.note(load={"samples": len(samples), "least_and_most": seen, "health": health})
    check.note(load_sampling={k: v for k, v in run_of_it.trace.context.sampling.items() if k != "table"})
    check.only_on_device("NVML is sampled at 5 Hz or more", len(samples) >= 20)
    for metric in ("utilisation_percent", "power_mw", "sm_clock_mhz", "memory_used_bytes"):
        check.only_on_device(f"NVML reads {metric}", bool(seen) and seen[metric][1] > 0)
    check.only_on_device("NVML sees the load", bool(seen) and seen["utilisation_percent"][1] >= 50)
    recorded.keep(check, run_of_it, "load")
