"""What the device sampler leaves behind: one row a reading, and what holds for a device over the whole run.

It lives in the model because a Recording keeps it and analyses read it; `capture` fills it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gpuprof.errors import RecordingError
from gpuprof.model.schema import DEVICE_READINGS
from gpuprof.model.table import Table


class DeviceProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process with a compute context. In a container `pid` may be the host's number for it, so it proves nothing
    by itself; `used_bytes` is None where the driver does not say (WSL, WDDM)."""

    pid: int
    used_bytes: int | None = None


class DeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One sampled device; its position in `ReadingLog.static` is the `device` of its rows. None is *unknown*.

    `torch_index` is torch's number for it in this process (None: torch drives no device yet, or not this one) and
    `nvml_index` NVML's; the two differ under CUDA_VISIBLE_DEVICES and are only joined by UUID or PCI bus id.
    `power_limit_mw` is what holds now, `power_limit_default_mw` what the board comes with.
    `memory_bytes` is the total, `driver_reserved_bytes` the part of it that the driver keeps for itself.
    `power_source` says what `power_mw` is: `instant`, or `driver` (nvmlDeviceGetPowerUsage: a 1 s average on Ampere
    and later except GA100, instantaneous before).
    `pcie_max_generation` is what device and system allow together, `pcie_device_max_generation` the device alone.
    `energy_mj` was used by the whole device in `energy_span_ns`, from the first to the last reading of its counter.
    `ecc_uncorrected` are new uncorrected memory errors over the same time. `lost_at_ns` (Unix time) is when the
    device stopped answering. Processes are those on the whole device, this one included.
    """

    name: str | None = None
    uuid: str | None = None
    pci_bus_id: str | None = None
    nvml_index: int | None = None
    torch_index: int | None = None
    mig: bool | None = None
    driver_version: str | None = None
    memory_bytes: int | None = None
    driver_reserved_bytes: int | None = None
    power_limit_mw: int | None = None
    power_limit_default_mw: int | None = None
    power_source: str | None = None
    temperature_slowdown_c: int | None = None
    sm_clock_max_mhz: int | None = None
    pcie_max_generation: int | None = None
    pcie_device_max_generation: int | None = None
    pcie_max_width: int | None = None
    processes_start: tuple[DeviceProcess, ...] | None = None
    processes_end: tuple[DeviceProcess, ...] | None = None
    energy_mj: int | None = None
    energy_span_ns: int | None = None
    ecc_uncorrected: int | None = None
    lost_at_ns: int | None = None


class DeviceReading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of one device, in the units of `schema.DEVICE_READINGS`; None where a metric was not read."""

    device: int
    time_ns: int
    monotonic_ns: int
    call_ns: int
    utilisation_percent: float | None = None
    memory_utilisation_percent: float | None = None
    memory_used_bytes: int | None = None
    power_mw: int | None = None
    temperature_c: float | None = None
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    clock_reasons: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a ReadingLog that is not the table."""

    static: tuple[DeviceFacts, ...]
    unavailable: str | None
    metric_errors: dict[str, str]
    hz_asked: float
    hz_reached: float | None
    cost_share: float | None
    halvings: int
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ReadingLog:
    """Everything one sampler saw. `table` has the schema `device_readings`.

    `unavailable` is why there are no rows at all, one sentence for the user. `metric_errors` maps `metric@uuid` to
    why that metric is missing, wholly or at times; a fact that the device simply does not have is None without one.
    `hz_reached` is ticks over time from the first tick to the end. `cost_share` (0..1) estimates the part of that
    time spent in driver calls or in the sampler's own code; `halvings` counts how often the rate was halved to keep
    it low. `notes` are plain sentences for the trust line.
    """

    table: Table = field(default_factory=lambda: Table(DEVICE_READINGS))
    static: tuple[DeviceFacts, ...] = ()
    unavailable: str | None = None
    metric_errors: dict[str, str] = field(default_factory=dict)
    hz_asked: float = 0.0
    hz_reached: float | None = None
    cost_share: float | None = None
    halvings: int = 0
    notes: tuple[str, ...] = ()

    def facts_dict(self) -> dict[str, Any]:
        """Everything but the table, JSON-able: what `RunContext.sampling` holds beside `device_readings.json`."""
        facts = _Facts(**{name: getattr(self, name) for name in _Facts.__struct_fields__})
        whole: dict[str, Any] = msgspec.to_builtins(facts)
        return whole

    def to_dict(self) -> dict[str, Any]:
        """The whole log, JSON-able; NaN becomes null. `table` holds the columns."""
        columns = self.table.to_dict()
        table = {name: [_null(value) for value in values] for name, values in columns.items()}
        return {**self.facts_dict(), "table": table}

    @staticmethod
    def from_dict(saved: Mapping[str, Any], table: Table | None = None) -> ReadingLog:
        """The inverse of `to_dict`, or of `facts_dict` with the table given beside it.

        Raises RecordingError where `saved` is something else.
        """
        try:
            facts = msgspec.convert({k: v for k, v in saved.items() if k != "table"}, _Facts)
            if table is None:
                table = Table(DEVICE_READINGS, saved.get("table"))
        except (msgspec.ValidationError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise RecordingError(f"the device readings of this recording cannot be read: {error}") from error
        return ReadingLog(table=table, **{name: getattr(facts, name) for name in _Facts.__struct_fields__})


def samples_table(readings: list[DeviceReading]) -> Table:
    """One row a reading, in the given order."""
    columns = {}
    for column in DEVICE_READINGS.columns:
        values = (getattr(reading, column.name) for reading in readings)
        columns[column.name] = [column.missing if value is None else value for value in values]
    return Table(DEVICE_READINGS, columns)


def _null(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
