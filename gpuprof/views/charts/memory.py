"""Memory over time: allocated and reserved, the peak, and the device's limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.trace import Trace
from gpuprof.units import byte_unit, duration, size, time_unit
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import FOREGROUND, frame, highest_rows, words
from gpuprof.views.theme import EVENTS


def draw(peak: MemoryPeak, trace: Trace) -> Any:
    """Curves of allocated and reserved bytes of the device with the highest peak, else of the host."""
    import holoviews as hv

    use = _curve(peak)
    if use is None:
        return words(_why_empty(peak))
    unit_ns, time_name = time_unit(trace.span_ns)
    unit_bytes, byte_name = byte_unit(max(int(use.allocated_bytes.max()), 1))
    rows = highest_rows(use.time_ns, use.allocated_bytes)
    time = (use.time_ns[rows] - trace.span_start_ns) / unit_ns
    axes = [hv.Dimension("time", unit=time_name)], [hv.Dimension("memory", unit=byte_name)]
    colour = EVENTS["memory"].light
    held = hv.Curve((time, use.allocated_bytes[rows] / unit_bytes), *axes, label="allocated")
    # an area has no steps of its own
    stepped = np.repeat(time, 2)[1:], np.repeat(use.allocated_bytes[rows] / unit_bytes, 2)[:-1]
    area = hv.Area(stepped, *axes).opts(color=colour, alpha=0.12, line_alpha=0)
    layers = [area, held.opts(interpolation="steps-post", color=colour, line_width=2, tools=["hover"])]
    reserved = use.reserved_bytes[rows]
    known = reserved > 0
    if known.any():
        outer = hv.Curve((time[known], reserved[known] / unit_bytes), *axes, label="reserved")
        layers.append(outer.opts(interpolation="steps-post", color=FOREGROUND, line_width=1.4, line_dash="dashed"))
    layers += _marks(use, trace, unit_ns, unit_bytes)
    label = "above the start" if use.relative else "allocated"
    return frame(
        hv.Overlay(layers),
        title=f"{_owner(use)}: peak {size(use.peak_allocated_bytes)} {label}",
        legend_position="top",
        legend_cols=4,
        xlim=(0, trace.span_ns / unit_ns),
        ylim=(min(0, int(use.allocated_bytes.min()) / unit_bytes), None),
    )


def _marks(use: MemoryUse, trace: Trace, unit_ns: int, unit_bytes: int) -> list[Any]:
    import holoviews as hv

    marks: list[Any] = []
    if use.peak_at_ns is not None and use.peak_allocated_bytes is not None:
        at = use.peak_at_ns - trace.span_start_ns
        point = hv.Points(
            [(at / unit_ns, int(use.allocated_bytes.max()) / unit_bytes)], label=f"peak at {duration(at)}"
        )
        marks.append(point.opts(color=EVENTS["memory"].light, size=9))
    # a limit far above the curve would flatten it
    if use.limit_bytes is not None and use.limit_bytes <= 2.5 * int(use.allocated_bytes.max()):
        limit = hv.HLine(use.limit_bytes / unit_bytes, label=f"limit {size(use.limit_bytes)}")
        marks.append(limit.opts(color=EVENTS["sync"].light, line_width=1.4, line_dash="dashed"))
    return marks


def _curve(peak: MemoryPeak) -> MemoryUse | None:
    return next((use for use in (peak.primary, peak.host) if use is not None and len(use.time_ns) > 1), None)


def _owner(use: MemoryUse) -> str:
    return "host memory" if use.device is None else use.name or f"device {use.device}"


def _why_empty(peak: MemoryPeak) -> str:
    use = peak.primary
    if use is not None and use.peak_allocated_bytes is not None:
        return (
            f"Peak {size(use.peak_allocated_bytes)} on {_owner(use)}. Its course over time was not recorded: "
            "profile with --memory."
        )
    return "No allocations were recorded. Profile with --memory to see them."


CHART = Chart("memory", MemoryPeak, "Memory over time", draw)
