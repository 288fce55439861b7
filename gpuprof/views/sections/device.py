"""The Device tab: what each device did, and what its driver said meanwhile."""

from __future__ import annotations

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_health import DeviceHealth, DeviceVitals
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.views.blocks import Block, CurveBlock, Sentence, TableBlock, TableCell, curve_block
from gpuprof.views.energy_rows import energy_note, energy_rows
from gpuprof.views.sections.section import Section

_W_PER_MW = 1e-3
_FROM_A_FILE = "a trace file holds no readings of power, temperature and clocks; a profiled cell does."
_CURVES = (
    ("utilisation_percent", "Utilisation: share of the driver's last period with any kernel resident", "%", 1.0, 100.0),
    ("power_mw", "Power", "W", _W_PER_MW, None),
    ("temperature_c", "Temperature", "°C", 1.0, None),
    ("sm_clock_mhz", "SM clock", "MHz", 1.0, None),
)


def _known(report: Report) -> bool:
    results = report.results
    return bool(results.get(DeviceActivity).devices or results.get(DeviceHealth).devices)


def _blocks(report: Report) -> list[Block]:
    results = report.results
    return [_activity(results), *_energy(results), *_health(results), *_samples(results.trace)]


def _activity(results: Results) -> Block:
    activity = results.get(DeviceActivity)
    if not activity.devices:
        if activity.recorded is None:
            return Sentence("No device was recorded in this run: its times are the host's.")
        return Sentence("Device activity was not captured: nothing can be said of how busy the device was.")
    rows = tuple(
        (
            f"{use.id}" + (f" ({use.name})" if use.name else ""),
            TableCell(units.duration(use.busy_ns), use.busy_ns),
            TableCell(units.percent(use.busy_share), use.busy_share),
            TableCell(units.duration(use.idle_ns), use.idle_ns),
            TableCell(units.count(use.kernels), use.kernels),
            TableCell(units.duration(use.kernel_ns), use.kernel_ns),
        )
        for use in activity.devices
    )
    return TableBlock(
        "Activity",
        ("device", "busy", "share of the span", "idle", "kernels", "kernel time"),
        rows,
        "Busy: at least one kernel, copy or memset runs. Kernel time adds durations, so parallel kernels count twice.",
    )


def _energy(results: Results) -> tuple[Block, ...]:
    rows = energy_rows(results)
    if not rows:
        return ()
    named = tuple((words, TableCell(text, value)) for words, text, value in rows)
    return (TableBlock("Energy of the device in the steps", ("what", "energy"), named, energy_note(results)),)


def _health(results: Results) -> tuple[Block, ...]:
    health = results.get(DeviceHealth)
    if not health.devices:
        why = health.unavailable or (_FROM_A_FILE if results.trace.source.kind == "kineto" else None)
        return (Sentence(f"The device was not sampled: {why}"),) if why else ()
    return (
        TableBlock(
            "What the driver reported",
            (
                "device",
                "readings",
                "warmest",
                "slows down at",
                "mean power",
                "power limit",
                "most memory used",
                "throttled",
            ),
            tuple(_vitals(vitals) for vitals in health.devices),
            "Throttled: share of the readings under load with a reason for lower clocks. "
            "Memory used is the whole device's, other processes included.",
        ),
    )


def _vitals(vitals: DeviceVitals) -> tuple[str | TableCell, ...]:
    reasons = vitals.reason_share
    if reasons is None:
        throttled = units.UNKNOWN
    else:
        words = [f"{name.replace('_', ' ')} {units.percent(share)}" for name, share in reasons.items()]
        throttled = ", ".join(words) or "never"
    return (
        f"{vitals.device}" + (f" ({vitals.name})" if vitals.name else ""),
        TableCell(units.count(vitals.readings), vitals.readings),
        TableCell(units.temperature(vitals.temperature_max_c), vitals.temperature_max_c),
        TableCell(units.temperature(vitals.temperature_slowdown_c), vitals.temperature_slowdown_c),
        _power(vitals.power_mean_mw),
        _power(vitals.power_limit_mw),
        TableCell(units.size(vitals.used_max_bytes), vitals.used_max_bytes),
        throttled,
    )


def _power(mw: float | None) -> TableCell:
    return TableCell(units.power(None if mw is None else mw * _W_PER_MW), mw)


def _between(low: float, high: float) -> str:
    least, most = f"{low:.0f}", f"{high:.0f}"
    return most if least == most else f"{least} to {most}"


def _samples(trace: Trace) -> list[CurveBlock]:
    table = trace.device_readings
    curves = []
    for device in np.unique(table["device"]).tolist():
        rows = np.flatnonzero(table["device"] == device)
        rows = rows[np.argsort(table["time_ns"][rows], kind="stable")]
        for column, label, unit, scale, top in _CURVES:
            values = table[column][rows].astype(np.float64)
            known = np.isfinite(values) & (values >= 0)
            time = table["time_ns"][rows][known]
            if known.sum() < 2 or time[-1] <= time[0]:
                continue
            values = values[known] * scale
            most = top or float(values.max())
            caption = f"{label}, device {device}: {_between(values.min(), values.max())} {unit}"
            curves.append(curve_block(caption, "reading", time, values, top=most, top_text=f"{most:.0f} {unit}"))
    return curves


SECTION = Section(order=60, key="device", title="Device", known=_known, blocks=_blocks, chart="device")
