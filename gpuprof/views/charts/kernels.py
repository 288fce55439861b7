"""The kernels that took longest, by name."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.trace import Trace
from gpuprof.units import count, duration, percent, plural, time_unit
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import frame, quiet, words
from gpuprof.views.kernel_words import brief_names
from gpuprof.views.theme import EVENTS

MOST_NAMES, LONGEST_NAME = 15, 48


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
    labels = [_label(rank, name) for rank, name in enumerate(brief_names(names), 1)]
    data = [
        (
            label,
            total / unit_ns,
            name,
            duration(total),
            count(int(number)),
            percent(total / kernels.total_ns),
            EVENTS["collective" if category == KernelCategory.COLLECTIVE else "kernel"].light,
        )
        for label, name, total, number, category in zip(
            labels, names, table["total_ns"], table["count"], table["category"], strict=False
        )
    ]
    bars = hv.Bars(
        data[::-1],
        "kernel",
        [hv.Dimension("total", unit=unit_name), "name", "time", "number", "share", "colour"],
    )
    tips = [("", "@name"), ("total", "@time"), ("kernels", "@number"), ("of kernel time", "@share")]
    rest = max(0, len(table) - MOST_NAMES)
    return frame(
        bars,
        invert_axes=True,
        color=hv.dim("colour"),
        line_alpha=0,
        height=90 + 24 * len(data),
        xlabel="",
        ylabel=f"total time ({unit_name})" + (f", {MOST_NAMES} of {len(table)} names" if rest else ""),
        title=f"{plural(kernels.count, 'kernel')}, {duration(kernels.total_ns)}",
        tools=["hover"],
        hover_tooltips=tips,
        default_tools=["save"],
        hooks=[quiet, _only_upright],
    )


def _label(rank: int, name: str) -> str:
    """Numbered, because two long names may be cut to the same words; the whole name is in the hover card."""
    return f"{rank}. {name if len(name) <= LONGEST_NAME else f'{name[:LONGEST_NAME]}…'}"


def _only_upright(plot: Any, element: Any) -> None:
    """A Bokeh hook: no lines along the bars."""
    plot.state.ygrid.grid_line_color = None


CHART = Chart("kernels", Kernels, "Kernels by total time", draw)
