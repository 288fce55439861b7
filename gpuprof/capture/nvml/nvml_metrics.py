"""The metrics of a device: how each is read, and how one that fails is kept from the others.

Semantics are NVML's own (its API reference): `utilisation_percent` is the share of the driver's last period (1/6 s to
1 s, by product) in which a kernel was resident, whatever its size; `memory_utilisation_percent` the share of it in
which device memory was read or written; `clock_reasons` the bit mask of nvmlClocksEventReasons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuprof.capture.nvml.nvml import NvmlCallError, Reaction, call, constant, field_error, known

Values = Mapping[str, int | float | None]
Reader = Callable[[Any], Values]

_FIRST_RETRY_NS = 500_000_000
_LAST_RETRY_NS = 30_000_000_000


@dataclass(frozen=True)
class Metric:
    """One thing to read. `readers` are tried in order: a newer call first, what older drivers have after it.

    `slow` metrics are read about once a second, the others at every tick.
    """

    name: str
    readers: tuple[Reader, ...]
    slow: bool = False


class MetricState:
    """One metric of one device, isolated: its failures stay here.

    A reader that can never work is dropped for good and the next takes over; other failures are retried with
    back-off. `error` is None while nothing went wrong. `working` is the reader that last succeeded.
    """

    def __init__(self, metric: Metric, handle: Any):
        self.metric = metric
        self._handle = handle
        self._readers = list(metric.readers)
        self._reasons: list[str] = []
        self._retry_at_ns = 0
        self._retry_after_ns = _FIRST_RETRY_NS
        self._calls = 0
        self._fastest_ns = 0
        self.failures = 0
        self.working: Reader | None = None

    @property
    def error(self) -> str | None:
        """Why the metric is missing, wholly or at times."""
        if not self._readers:
            return "; ".join(dict.fromkeys(self._reasons))
        return f"{self._reasons[-1]} ({self.failures} readings failed)" if self.failures else None

    def read(self, now_ns: int) -> Values:
        """The values by column; empty where there are none now. Raises NvmlCallError only for a lost device."""
        if now_ns < self._retry_at_ns:
            return {}
        while self._readers:
            before = time.perf_counter_ns()
            try:
                values = self._readers[0](self._handle)
            except NvmlCallError as error:
                if error.reaction is Reaction.LOST:
                    raise
                self._reasons.append(error.reason)
                if error.reaction is Reaction.DISABLE:
                    del self._readers[0]
                    continue
                self._note_failure(now_ns)
                return {}
            finally:
                self._meter(time.perf_counter_ns() - before)
            self._retry_after_ns = _FIRST_RETRY_NS
            self.working = self._readers[0]
            return values
        return {}

    def take_cost_ns(self, wait_per_call_ns: int) -> int:
        """Time in the driver since the last asking, and start counting anew.

        Calls × fastest call, less the wait for the interpreter's lock that even the fastest may have had on its way
        back. Where that wait is not 0 this is a lower bound; the thread's processor time then stands for the rest.
        """
        cost = self._calls * max(0, self._fastest_ns - wait_per_call_ns)
        self._calls, self._fastest_ns = 0, 0
        return cost

    def _note_failure(self, now_ns: int) -> None:
        self.failures += 1
        self._reasons = self._reasons[-1:]
        self._retry_at_ns = now_ns + self._retry_after_ns
        self._retry_after_ns = min(2 * self._retry_after_ns, _LAST_RETRY_NS)

    def _meter(self, duration_ns: int) -> None:
        self._fastest_ns = min(self._fastest_ns, duration_ns) if self._calls else duration_ns
        self._calls += 1


def metrics() -> tuple[Metric, ...]:
    """What is sampled. Processes, energy and ECC are read at start and end only: they are slow or counters."""
    return (
        Metric("utilisation", (_utilisation,)),
        Metric("memory_used", (_memory_v2, _memory_v1)),
        Metric("power", (power_instant, _power_usage)),
        Metric("sm_clock", (_clock("sm_clock_mhz", "NVML_CLOCK_SM", 1),)),
        Metric("memory_clock", (_clock("memory_clock_mhz", "NVML_CLOCK_MEM", 2),)),
        Metric("clock_reasons", tuple(map(_reasons, ("Event", "Throttle")))),
        Metric("temperature", (_temperature,), slow=True),
        Metric("pcie_generation", (_simple("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration"),), slow=True),
        Metric("pcie_width", (_simple("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),), slow=True),
    )


def _utilisation(handle: Any) -> Values:
    rates = call("nvmlDeviceGetUtilizationRates", handle)
    return {"utilisation_percent": known(rates.gpu), "memory_utilisation_percent": known(rates.memory)}


def _memory_v2(handle: Any) -> Values:
    # version 1 folds the driver's reserve into `used`; adding it here makes both mean the same
    memory = call("nvmlDeviceGetMemoryInfo", handle, constant("nvmlMemory_v2", 0x02000028))
    return {"memory_used_bytes": int(memory.used) + int(memory.reserved)}


def _memory_v1(handle: Any) -> Values:
    return {"memory_used_bytes": known(call("nvmlDeviceGetMemoryInfo", handle).used)}


def power_instant(handle: Any) -> Values:
    """Field POWER_INSTANT; the call succeeds as a whole while a field carries its own error."""
    field = call("nvmlDeviceGetFieldValues", handle, [constant("NVML_FI_DEV_POWER_INSTANT", 186)])[0]
    unsigned = constant("NVML_VALUE_TYPE_UNSIGNED_INT", 1)
    if field.nvmlReturn != 0:
        raise field_error(field.nvmlReturn)
    if field.valueType != unsigned:
        raise NvmlCallError("nvmlDeviceGetFieldValues", "a field of an unexpected type", Reaction.DISABLE)
    return {"power_mw": known(field.value.uiVal)}


def _power_usage(handle: Any) -> Values:
    return {"power_mw": known(call("nvmlDeviceGetPowerUsage", handle))}


def _temperature(handle: Any) -> Values:
    return {"temperature_c": known(call("nvmlDeviceGetTemperature", handle, constant("NVML_TEMPERATURE_GPU", 0)))}


def _reasons(word: str) -> Reader:
    function = f"nvmlDeviceGetCurrentClocks{word}Reasons"
    return lambda handle: {"clock_reasons": int(call(function, handle))}


def _clock(column: str, name: str, fallback: int) -> Reader:
    return lambda handle: {column: known(call("nvmlDeviceGetClockInfo", handle, constant(name, fallback)))}


def _simple(column: str, function: str) -> Reader:
    return lambda handle: {column: known(call(function, handle))}
