"""What holds a device back from outside: its clocks by reason, its link, its limits, its neighbours, its faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.device.device_health import REASONS, THERMAL, device_facts
from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class DeviceCondition:
    """One sampled device. None where nothing tells.

    `readings`: those under load (utilisation above 0) with the clock reasons read. Of these, `share_by_reason` maps
    each of REASONS that occurs without a thermal one to its share (0..1), `clock_by_reason_mhz` to the median SM clock
    then; `clock_free_mhz` is the median with no reason to lower it.
    `link_readings`: those under load with the link read; `link_below_share` of them the generation or the width is
    below what device and system allow together; `link_generation` and `link_width` are the medians then.
    `others`: processes that the driver listed at the start and at the end and that are not this one. Where this one
    cannot be recognised (in a container), one of them is taken for it, and `others_bytes` is unknown.
    """

    facts: DeviceFacts
    readings: int
    share_by_reason: Mapping[str, float]
    clock_by_reason_mhz: Mapping[str, float]
    clock_free_mhz: float | None
    link_readings: int
    link_below_share: float | None
    link_generation: int | None
    link_width: int | None
    others: int | None
    others_bytes: int | None


@dataclass(frozen=True)
class DeviceConditions(Result):
    """One entry per sampled device, those without a reading included; empty where no sampler ran."""

    devices: tuple[DeviceCondition, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device readings and the sampler's facts."""
        readings, facts = trace.device_readings, device_facts(trace)
        rows = range(max(len(facts), int(readings["device"].max()) + 1 if len(readings) else 0))
        known = [facts[row] if row < len(facts) else DeviceFacts() for row in rows]
        return cls(
            tuple(_condition(readings.take(readings["device"] == row), known[row], _own_pid(trace)) for row in rows)
        )


def _condition(readings: Table, facts: DeviceFacts, own: int | None) -> DeviceCondition:
    reasons, clocks = readings["clock_reasons"], readings["sm_clock_mhz"]
    busy = readings["utilisation_percent"] > 0
    loaded = busy & (reasons >= 0)
    cool = loaded & ((reasons & THERMAL) == 0)
    marked = {name: cool & ((reasons & bit) != 0) for name, bit in REASONS.items() if not bit & THERMAL}
    marked = {name: rows for name, rows in marked.items() if rows.any()}
    read = {name: _median(clocks[rows]) for name, rows in marked.items()}
    below, linked = _link(readings, facts)
    linked &= busy
    others, bytes_held = _others(facts, own)
    return DeviceCondition(
        facts=facts,
        readings=int(loaded.sum()),
        share_by_reason={name: float(rows.sum() / loaded.sum()) for name, rows in marked.items()},
        clock_by_reason_mhz={name: clock for name, clock in read.items() if clock is not None},
        clock_free_mhz=_median(clocks[loaded & ((reasons & ~1) == 0)]),
        link_readings=int(linked.sum()),
        link_below_share=float(below[linked].mean()) if linked.any() else None,
        link_generation=_whole(_median(readings["pcie_generation"][linked])),
        link_width=_whole(_median(readings["pcie_width"][linked])),
        others=others,
        others_bytes=bytes_held,
    )


def _link(readings: Table, facts: DeviceFacts) -> tuple[Array, Array]:
    """For each reading: whether the link is below its maximum, and whether that can be said."""
    generation, width = readings["pcie_generation"], readings["pcie_width"]
    below, known = np.zeros(len(readings), bool), np.zeros(len(readings), bool)
    for values, most in ((generation, facts.pcie_max_generation), (width, facts.pcie_max_width)):
        if most is not None:
            known |= values > 0
            below |= (values > 0) & (values < most)
    return below, known


def _others(facts: DeviceFacts, own: int | None) -> tuple[int | None, int | None]:
    if facts.processes_start is None or facts.processes_end is None:
        return None, None
    ended = {each.pid for each in facts.processes_end}
    stayed = [each for each in facts.processes_start if each.pid in ended]
    listed = {each.pid for each in (*facts.processes_start, *facts.processes_end)}
    if own not in listed:
        return max(len(stayed) - 1, 0), None
    others = [each for each in stayed if each.pid != own]
    return len(others), _held(others)


def _held(processes: list[DeviceProcess]) -> int | None:
    sizes = [each.used_bytes for each in processes if each.used_bytes is not None]
    return sum(sizes) if len(sizes) == len(processes) else None


def _own_pid(trace: Trace) -> int | None:
    """This process as the profiler numbers it."""
    rows = trace.threads["pid"]
    return int(rows[trace.main_thread]) if 0 <= trace.main_thread < len(rows) else None


def _median(values: Array) -> float | None:
    read = values[values >= 0]
    return float(np.median(read)) if len(read) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
