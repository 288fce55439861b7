"""What the machine is, what gpuprof's doctor says of it, and what NVML answers or refuses."""

from __future__ import annotations

import importlib.metadata
import time
from typing import Any

import torch

from benchmarks.gpu_check.check import Check
from gpuprof.capture.nvml import nvml
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.doctor import examine, render
from gpuprof.model.schema import DEVICE_READINGS

# may lack on a machine that only runs the checks
_FRONT_END = {"front end", "ipywidgets", "anywidget", "JupyterLab"}
_PACKAGES = ("torch", "triton", "numpy", "matplotlib", "nvidia-ml-py", "msgspec", "psutil", "libcst", "ipython")
_ASKED = (
    *("nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetUtilizationRates"),
    *("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrPcieLinkGeneration"),
    *("nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetEnforcedPowerLimit"),
    *("nvmlDeviceGetPersistenceMode", "nvmlDeviceGetMigMode", "nvmlDeviceGetEccMode", "nvmlDeviceGetFanSpeed"),
)
_FIELDS = (
    *("NVML_FI_DEV_POWER_INSTANT", "NVML_FI_DEV_POWER_AVERAGE", "NVML_FI_DEV_PCIE_COUNT_TX_BYTES"),
    *("NVML_FI_DEV_PCIE_COUNT_RX_BYTES", "NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION"),
)


def run(check: Check) -> None:
    check.note(packages={name: _version(name) for name in _PACKAGES}, torch=_torch(check))
    checks = examine()
    check.note(doctor=[each.to_dict() for each in checks], doctor_text=render(checks))
    states = {each.name: each.state for each in checks}
    broken = [name for name, state in states.items() if state == "broken" and name not in _FRONT_END]
    check.expect("the doctor finds nothing broken", not broken)
    check.only_on_device("the doctor sees device events through CUPTI", states.get("CUPTI") == "works")
    check.note(nvml=_nvml())
    log = _sampled(check)
    check.only_on_device("NVML is there", log["unavailable"] is None)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _torch(check: Check) -> dict[str, Any]:
    facts: dict[str, Any] = {"version": str(torch.__version__), "cuda": torch.version.cuda, "threads": _threads()}
    if check.on_device:
        device = torch.cuda.get_device_properties(0)
        names = ("name", "major", "minor", "total_memory", "multi_processor_count", "L2_cache_size", "uuid")
        facts["device"] = {name: str(getattr(device, name, None)) for name in names}
        facts["architectures"] = torch.cuda.get_arch_list()
    return facts


def _threads() -> int:
    return int(torch.get_num_threads())


def _nvml() -> dict[str, Any]:
    """Each function and field of the first device: `answers`, or the reason why not."""
    if reason := nvml.start():
        return {"unavailable": reason}
    try:
        handle = nvml.call("nvmlDeviceGetHandleByIndex", 0)
        found = {name: _asked(name, handle) for name in _ASKED}
        return found | {name: _field(name, handle) for name in _FIELDS}
    except nvml.NvmlCallError as error:
        return {"unavailable": str(error)}
    finally:
        nvml.finish()


def _asked(name: str, handle: Any) -> str:
    began = time.perf_counter_ns()
    try:
        nvml.call(name, handle)
    except nvml.NvmlCallError as error:
        return error.reason
    return f"answers in {(time.perf_counter_ns() - began) / 1000:.0f} µs"


def _field(name: str, handle: Any) -> str:
    number = nvml.constant(name, -1)
    if number < 0:
        return "unknown to this nvidia-ml-py"
    try:
        field = nvml.call("nvmlDeviceGetFieldValues", handle, [number])[0]
        return "answers" if field.nvmlReturn == 0 else nvml.field_error(field.nvmlReturn).reason
    except nvml.NvmlCallError as error:
        return error.reason


def _sampled(check: Check) -> dict[str, Any]:
    """Half a second of samples of an idle device."""
    sampler = DeviceSampler(hz=20.0)
    sampler.start()
    time.sleep(0.2 if check.small else 1.0)
    log = sampler.stop()
    facts = log.facts_dict()
    table = log.table.to_dict()
    facts["rows"] = len(log.table)
    facts["last"] = {column.name: table[column.name][-1] for column in DEVICE_READINGS.columns if len(log.table)}
    check.note(sampler=facts)
    return facts
