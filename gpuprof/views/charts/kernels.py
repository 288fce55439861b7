"""The kernels that took longest, by name."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.kernels import Kernels
from gpuprof.model.trace import Trace
from gpuprof.units import count, duration, percent
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import frame, time_unit, words
from gpuprof.views.theme import EVENTS

MOST_NAMES, LONGEST_NAME = 15, 52


def draw(kernels: Kernels, trace: Trace) -> Any:
    """Bars of the summed duration of the fifteen costliest kernels, longest on top."""
    import holoviews as hv

    if not kernels.count:
        recorded = trace.device_recorded
        return words(
            "No kernels were recorded." if recorded else "No device activity was recorded: kernels are unknown."
        )
    table = kernels.table
    unit_ns, unit_name = time_unit(int(table["total_ns"].max()))
    names = [trace.names[i] for i in table["name"][:MOST_NAMES]]
    data = [
        (
            _label(rank, name),
            total / unit_ns,
            name,
            duration(total),
            count(int(number)),
            percent(total / kernels.total_ns),
        )
        for rank, (name, total, number) in enumerate(zip(names, table["total_ns"], table["count"], strict=False), 1)
    ]
    bars = hv.Bars(
        data[::-1],
        "kernel",
        [hv.Dimension("total", unit=unit_name), "name", "time", "number", "share"],
    )
    tips = [("", "@name"), ("total", "@time"), ("kernels", "@number"), ("of kernel time", "@share")]
    rest = max(0, len(table) - MOST_NAMES)
    return frame(
        bars,
        invert_axes=True,
        color=EVENTS["kernel"].light,
        line_alpha=0,
        height=90 + 24 * len(data),
        xlabel="",
        title=f"{count(kernels.count)} kernels, {duration(kernels.total_ns)}"
        + (f"; {rest} more names" if rest else ""),
        tools=["hover"],
        hover_tooltips=tips,
        default_tools=["save"],
    )


def _label(rank: int, name: str) -> str:
    """Numbered, because two long names may be cut to the same words; the whole name is in the hover card."""
    name = name.removeprefix("void ")
    if len(name) <= LONGEST_NAME:
        return f"{rank}. {name}"
    half = LONGEST_NAME // 2
    return f"{rank}. {name[:half]}…{name[-half:]}"


CHART = Chart("kernels", Kernels, "Kernels by total time", draw, lambda kernels: not kernels.count)
