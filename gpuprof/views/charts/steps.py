"""How long every step took."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model.trace import Trace
from gpuprof.units import duration, time_unit
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import FOREGROUND, MOST_POINTS, frame, words
from gpuprof.views.theme import EVENTS


def draw(steps: StepTime, trace: Trace) -> Any:
    """One point a step, and the median of the steady ones; warm-up steps are hollow."""
    import holoviews as hv

    if not steps.count:
        return words("No steps were found: the run has no optimizer step, DataLoader iteration or profiler step.")
    unit_ns, unit_name = time_unit(int(steps.durations_ns.max()))
    numbers = trace.steps["number"]
    axes = ["step", hv.Dimension("duration", unit=unit_name)]
    layers = []
    for mask, name, fill in ((steps.steady, "steady", 0.8), (~steps.steady, "warm-up", 0.0)):
        rows = np.flatnonzero(mask)[:MOST_POINTS]
        if len(rows):
            points = hv.Points((numbers[rows], steps.durations_ns[rows] / unit_ns), axes, label=name)
            colour = EVENTS["kernel"].light
            layers.append(points.opts(color=colour, line_color=colour, fill_alpha=fill, size=7, tools=["hover"]))
    if steps.median_ns is not None:
        line = hv.HLine(steps.median_ns / unit_ns, label=f"median {duration(steps.median_ns)}")
        layers.append(line.opts(color=FOREGROUND, line_dash="dashed", line_width=1.4))
    title = (
        f"{steps.count:,} steps, median {duration(steps.median_ns)} (dashed), 95th percentile {duration(steps.p95_ns)}"
    )
    top = float(steps.durations_ns.max()) / unit_ns * 1.1
    return frame(hv.Overlay(layers), title=title, ylim=(0, top), legend_position="top", legend_cols=3)


CHART = Chart("steps", StepTime, "Step durations", draw)
