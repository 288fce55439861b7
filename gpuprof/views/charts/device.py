"""What the driver read of the device over time: utilisation, memory, power, temperature, clock."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from gpuprof.units import time_unit
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import MOST_POINTS, frame, words
from gpuprof.views.theme import EVENTS


class Reading(NamedTuple):
    """A column of the readings, how it is named and scaled on its axis."""

    column: str
    label: str
    unit: str
    divisor: float


READINGS = (
    Reading("utilisation_percent", "any kernel resident", "%", 1),
    Reading("memory_used_bytes", "memory used on the device", "GiB", 1024**3),
    Reading("power_mw", "power", "W", 1000),
    Reading("temperature_c", "temperature", "°C", 1),
    Reading("sm_clock_mhz", "SM clock", "MHz", 1),
)


def draw(health: DeviceHealth, trace: Trace) -> Any:
    """A curve per metric that was read, one below the other on the same time axis, one line a device."""
    import holoviews as hv

    readings = trace.device_readings
    shown = [reading for reading in READINGS if _known(readings[reading.column]).sum() > 1]
    if not shown:
        return words(_why_empty(health, len(readings)))
    origin = int(readings["time_ns"].min())
    unit_ns, unit_name = time_unit(int(readings["time_ns"].max()) - origin)
    time = hv.Dimension("time since the first reading", unit=unit_name)
    panels = [
        _panel(readings, reading, (readings["time_ns"] - origin) / unit_ns, time, reading is shown[-1])
        for reading in shown
    ]
    if len(panels) == 1:
        return panels[0]
    return hv.Layout(panels).cols(1).opts(backend="bokeh", toolbar=None, shared_axes=True)


def _panel(readings: Table, reading: Reading, time: Array, axis: Any, last: bool) -> Any:
    import holoviews as hv

    lines = []
    for device in np.unique(readings["device"]):
        rows = (readings["device"] == device) & _known(readings[reading.column])
        if rows.any():
            thin = np.flatnonzero(rows)[:: max(1, int(rows.sum()) // MOST_POINTS)]
            value = hv.Dimension(reading.label, unit=reading.unit)
            curve = hv.Curve((time[thin], readings[reading.column][thin] / reading.divisor), axis, value)
            lines.append(curve.opts(color=EVENTS["reading"].light, line_width=1.8, tools=["hover"]))
    values = readings[reading.column][_known(readings[reading.column])] / reading.divisor
    return frame(
        hv.Overlay(lines),
        height=150 if last else 110,
        xaxis="bottom" if last else None,
        ylabel=reading.unit,
        title=reading.label,
        toolbar=None,
        ylim=_range(reading, float(values.min()), float(values.max())),
    )


def _range(reading: Reading, low: float, high: float) -> tuple[float, float]:
    """From zero where zero means none; a temperature gets room instead, or a degree would look like a cliff."""
    if reading.unit == "%":
        return 0.0, 100.0
    return (low - 5, high + 5) if reading.unit == "°C" else (0.0, high * 1.15 or 1.0)


def _known(values: Array) -> Array:
    known: Array = np.isfinite(values) if values.dtype.kind == "f" else values >= 0
    return known


def _why_empty(health: DeviceHealth, readings: int) -> str:
    if health.unavailable:
        return f"The device was not sampled: {health.unavailable}"
    if readings:
        return "Too few readings for a curve: the run was shorter than two readings."
    return "The device was not sampled in this run."


CHART = Chart("device", DeviceHealth, "Device readings over time", draw)
