"""One device under the sampler: its facts, its readings, its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from gpuprof.capture.nvml.devices import NvmlDevice
from gpuprof.capture.nvml.nvml import NvmlCallError, Reaction, call, constant, known
from gpuprof.capture.nvml.nvml_metrics import MetricState, metrics, power_instant
from gpuprof.model.readings import DeviceFacts, DeviceProcess, DeviceReading


class DeviceReadings:
    """Reads one device. A metric that fails does not harm the others; a lost device is left alone from then on."""

    def __init__(self, row: int, device: NvmlDevice, torch_index: int | None):
        self.row = row
        self.device = device
        self.torch_index = torch_index
        self.errors: dict[str, str] = {}
        self._states = [MetricState(metric, device.handle) for metric in metrics()]
        self._facts = DeviceFacts()
        self._energy: tuple[int, int] | None = None
        self._ecc: int | None = None
        self.latest: DeviceReading | None = None

    @property
    def label(self) -> str:
        """What stands behind the `@` in `metric_errors`."""
        return self.device.label

    @property
    def lost(self) -> bool:
        """Whether the device stopped answering."""
        return self._facts.lost_at_ns is not None

    def begin(self) -> None:
        """Read what is constant, and the counters' first values."""
        handle = self.device.handle
        read = self._fact
        reserved = read("driver_reserved_bytes", lambda: _memory_v2(handle).reserved)
        self._facts = msgspec.structs.replace(
            self._facts,
            name=read("name", lambda: call("nvmlDeviceGetName", handle)),
            driver_version=read("driver_version", lambda: call("nvmlSystemGetDriverVersion")),
            memory_bytes=read("memory_bytes", lambda: int(call("nvmlDeviceGetMemoryInfo", handle).total)),
            driver_reserved_bytes=None if reserved is None else int(reserved),
            power_limit_mw=read("power_limit_mw", lambda: known(call("nvmlDeviceGetEnforcedPowerLimit", handle))),
            power_limit_default_mw=read(
                "power_limit_default_mw", lambda: known(call("nvmlDeviceGetPowerManagementDefaultLimit", handle))
            ),
            temperature_slowdown_c=read("temperature_slowdown_c", lambda: _slowdown_c(handle)),
            sm_clock_max_mhz=read("sm_clock_max_mhz", lambda: _max_sm_clock(handle)),
            pcie_max_generation=read(
                "pcie_max_generation", lambda: known(call("nvmlDeviceGetMaxPcieLinkGeneration", handle))
            ),
            pcie_device_max_generation=read(
                "pcie_device_max_generation", lambda: known(call("nvmlDeviceGetGpuMaxPcieLinkGeneration", handle))
            ),
            pcie_max_width=read("pcie_max_width", lambda: known(call("nvmlDeviceGetMaxPcieLinkWidth", handle))),
            processes_start=read("processes", lambda: _processes(handle)),
        )
        self._ecc = read("ecc_uncorrected", lambda: _ecc(handle))
        self._energy = self._energy_now()

    def end(self) -> None:
        """Read the counters again."""
        if self.lost:
            return
        handle = self.device.handle
        before, after = self._energy, self._energy_now()
        ecc = self._fact("ecc_uncorrected", lambda: _ecc(handle))
        changes: dict[str, Any] = {"processes_end": self._fact("processes", lambda: _processes(handle))}
        # a counter that went back was reset (driver reloaded)
        if before and after and after[1] >= before[1]:
            changes |= {"energy_span_ns": after[0] - before[0], "energy_mj": after[1] - before[1]}
        if ecc is not None and self._ecc is not None and ecc >= self._ecc:
            changes["ecc_uncorrected"] = ecc - self._ecc
        self._facts = msgspec.structs.replace(self._facts, **changes)

    def facts(self) -> DeviceFacts:
        """What is known of the device so far."""
        return msgspec.structs.replace(
            self._facts,
            uuid=self.device.uuid,
            pci_bus_id=self.device.pci_bus_id,
            nvml_index=self.device.nvml_index,
            torch_index=self.torch_index,
            mig=self.device.mig,
            power_source=self._power_source(),
        )

    def reading(self, slow: bool) -> DeviceReading | None:
        """One reading (the slow metrics only if asked); None where nothing at all could be read."""
        if self.lost:
            return None
        unix_ns, before = time.time_ns(), time.perf_counter_ns()
        values: dict[str, Any] = {}
        try:
            for state in self._states:
                if slow or not state.metric.slow:
                    values.update(state.read(before))
        except NvmlCallError as error:
            self._mark_lost(error)
            return None
        if not values:
            return None
        took = time.perf_counter_ns() - before
        reading = DeviceReading(
            device=self.row, time_ns=unix_ns + took // 2, monotonic_ns=before + took // 2, call_ns=took, **values
        )
        self.latest = reading if self.latest is None else _carried(self.latest, reading)
        return reading

    def take_cost_ns(self, wait_per_call_ns: int) -> int:
        """Time in the driver since the last asking."""
        return sum(state.take_cost_ns(wait_per_call_ns) for state in self._states)

    def all_errors(self) -> dict[str, str]:
        """`metric@device` → reason."""
        errors = dict(self.errors)
        errors |= {state.metric.name: state.error for state in self._states if state.error}
        return {f"{metric}@{self.label}": reason for metric, reason in errors.items()}

    def _fact(self, name: str, read: Callable[[], Any]) -> Any:
        if self.lost:
            return None
        try:
            return read()
        except NvmlCallError as error:
            if error.reaction is Reaction.LOST:
                self._mark_lost(error)
            elif not error.absent:
                self.errors[name] = error.reason
            return None

    def _mark_lost(self, error: NvmlCallError) -> None:
        self.errors["device"] = error.reason
        self._facts = msgspec.structs.replace(self._facts, lost_at_ns=time.time_ns())

    def _energy_now(self) -> tuple[int, int] | None:
        handle = self.device.handle
        value = self._fact("energy_mj", lambda: int(call("nvmlDeviceGetTotalEnergyConsumption", handle)))
        return None if value is None else (time.perf_counter_ns(), value)

    def _power_source(self) -> str | None:
        working = next(state.working for state in self._states if state.metric.name == "power")
        if working is None:
            return None
        return "instant" if working is power_instant else "driver"


def _carried(old: DeviceReading, new: DeviceReading) -> DeviceReading:
    """`new`, with the slow metrics of `old` where this tick did not read them."""
    kept = {f: getattr(old, f) for f in ("temperature_c", "pcie_generation", "pcie_width") if getattr(new, f) is None}
    return msgspec.structs.replace(new, **kept)


def _memory_v2(handle: Any) -> Any:
    return call("nvmlDeviceGetMemoryInfo", handle, constant("nvmlMemory_v2", 0x02000028))


def _slowdown_c(handle: Any) -> int | None:
    slowdown = constant("NVML_TEMPERATURE_THRESHOLD_SLOWDOWN", 1)
    return known(call("nvmlDeviceGetTemperatureThreshold", handle, slowdown))


def _max_sm_clock(handle: Any) -> int | None:
    return known(call("nvmlDeviceGetMaxClockInfo", handle, constant("NVML_CLOCK_SM", 1)))


def _ecc(handle: Any) -> int:
    uncorrected, volatile = constant("NVML_MEMORY_ERROR_TYPE_UNCORRECTED", 1), constant("NVML_VOLATILE_ECC", 0)
    return int(call("nvmlDeviceGetTotalEccErrors", handle, uncorrected, volatile))


def _processes(handle: Any) -> tuple[DeviceProcess, ...]:
    try:
        rows = call("nvmlDeviceGetComputeRunningProcesses_v3", handle)
    except NvmlCallError as error:
        if not error.absent:
            raise
        rows = call("nvmlDeviceGetComputeRunningProcesses_v2", handle)
    return tuple(DeviceProcess(pid=int(row.pid), used_bytes=row.usedGpuMemory) for row in rows)
