"""The recommendations of torch's TensorBoard plugin (torch-tb-profiler 0.4.3, since removed), by its thresholds.

Facts of the plugin's `profiler/data.py`, written anew on our figures: loading above 5 % of the step, where the device
and the runtime do nothing; a device in use for less than half of the time; no tensor core kernel on a device that has
them; memory above 90 % of the device; communication above 10 % of the step; DataParallel on several devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.proving.others.advice import LOADING, Advice

if TYPE_CHECKING:
    from gpuprof.run import Run

LOADING_SHARE = 0.05
LEAST_UTILISATION = 0.5
MEMORY_SHARE = 0.9
COMMUNICATION_SHARE = 0.1
TENSOR_CORES_SINCE = 7


def advise(run: Run) -> list[Advice]:
    """What the plugin would recommend for this run."""
    report = run.to_dict()
    shares = {entry["category"]: entry["share"] for entry in report["time_budget"]}
    inside = 1 - shares.get("outside_steps", 0.0) - shares.get("idle_outside_steps", 0.0)
    found = []
    loading = shares.get("input_wait", shares.get("idle_input", 0.0))
    if inside > 0 and loading / inside > LOADING_SHARE:
        found.append(Advice("high time cost on input data loading", LOADING))
    if any(device["busy_share"] < LEAST_UTILISATION for device in report["devices"]):
        found.append(Advice("low utilisation", ("small_batch", "launch_bound")))
    if _tensor_cores_unused(run):
        found.append(Advice("tensor cores unused", ("fp32_matmul",)))
    if _memory_is_full(run):
        found.append(Advice("memory at its limit", ("memory_near_limit", "activations_dominate_peak")))
    if inside > 0 and shares.get("exposed_collective", 0.0) / inside > COMMUNICATION_SHARE:
        found.append(Advice("high time cost on communication", ("exposed_collective",)))
    return found


def _tensor_cores_unused(run: Run) -> bool:
    from gpuprof.analyses.kernels import Kernels
    from gpuprof.model.kernel_names import KernelCategory, Precision

    kernels = run.details.results.get(Kernels)
    products = sum(kernels.by_category.get(kind, 0) for kind in (KernelCategory.GEMM, KernelCategory.CONVOLUTION))
    plain = kernels.by_precision.get(Precision.FP32, 0) + kernels.by_precision.get(Precision.FP64, 0)
    capable = [device.compute_capability for device in run.trace.devices if device.compute_capability]
    return bool(products) and plain >= products and any(major >= TENSOR_CORES_SINCE for major, _ in capable)


def _memory_is_full(run: Run) -> bool:
    from gpuprof.analyses.memory_peak import MemoryPeak

    use = run.details.results.get(MemoryPeak).primary
    return bool(use and use.limit_bytes and (use.peak_allocated_bytes or 0) > MEMORY_SHARE * use.limit_bytes)
