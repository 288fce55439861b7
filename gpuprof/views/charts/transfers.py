"""Copies: size against bandwidth, by host memory, exposed or hidden under compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_US, plural, rate, size
from gpuprof.views.charts.chart import Chart
from gpuprof.views.charts.style import FOREGROUND, MOST_POINTS, byte_ticks, decade_ticks, frame, quiet, words
from gpuprof.views.copy_words import DIRECTIONS
from gpuprof.views.theme import BUDGET

MARKERS = {
    HostMemory.PAGEABLE: ("triangle", "pageable"),
    HostMemory.PINNED: ("circle", "pinned"),
    HostMemory.UNKNOWN: ("square", "host memory unknown"),
    HostMemory.NONE: ("diamond", "within the device"),
}
EXPOSED, HIDDEN = BUDGET["exposed_copy"].light, BUDGET["operators"].light


def draw(copies: Copies, trace: Trace) -> Any:
    """One point a copy: bytes (log) against bytes ÷ duration; the shape is the host memory, the colour whether at
    least half of it ran with no kernel beside it."""
    import holoviews as hv

    table = copies.table
    known = table.take(np.isfinite(table["bandwidth_bytes_per_s"]) & (table["bytes"] > 0))
    if not len(known):
        return words(_why_empty(table, trace))
    rows = _thinned(known)
    layers = [
        _points(known.take(rows[mask]), memory, exposed)
        for memory in MARKERS
        for exposed in (True, False)
        if (mask := _mask(known, memory, exposed)[rows]).any()
    ]
    layers += _limits(trace)
    sizes, rates = _around(known["bytes"]), _around(np.append(known["bandwidth_bytes_per_s"], _link_limits(trace)))
    shown = "" if len(rows) == len(known) else f", the {len(rows):,} longest shown"
    sized = "" if len(known) == len(table) else f"; {len(table) - len(known):,} more without a known size"
    return frame(
        hv.Overlay(layers),
        title=f"{plural(len(known), 'copy', 'copies')}{shown}{sized}",
        logx=True,
        logy=True,
        xlim=tuple(bound / 1024 for bound in sizes),
        ylim=tuple(bound / 1e9 for bound in rates),
        xticks=[(tick / 1024, _round(size(tick))) for tick in byte_ticks(*sizes)],
        yticks=[(tick / 1e9, _round(rate(tick))) for tick in decade_ticks(*rates)],
        xlabel="size of the copy",
        ylabel="bandwidth",
        legend_position="top",
        legend_cols=3,
        height=320,
        hooks=[quiet, _roomy],
        default_tools=["wheel_zoom", "pan", "reset", "save"],
    )


def _mask(table: Table, memory: HostMemory, exposed: bool) -> Array:
    mostly = 2 * table["exposed_ns"] >= table["duration_ns"]
    mask: Array = (table["host_memory"] == memory) & (mostly if exposed else ~mostly)
    return mask


def _points(table: Table, memory: HostMemory, exposed: bool) -> Any:
    import holoviews as hv

    marker, name = MARKERS[memory]
    rows = zip(table["bytes"], table["bandwidth_bytes_per_s"], table["duration_ns"], table["direction"], strict=True)
    data = [
        (int(b) / 1024, bw / 1e9, size(int(b)), rate(bw), ns / NS_PER_US, DIRECTIONS[CopyKind(int(kind))])
        for b, bw, ns, kind in rows
    ]
    points = hv.Points(
        data,
        [hv.Dimension("size", unit="KiB"), hv.Dimension("bandwidth", unit="GB/s")],
        ["copied", "rate", "duration_us", "direction"],
        label=f"{name}, {'exposed' if exposed else 'hidden'}",
    )
    tips = [("copied", "@copied"), ("bandwidth", "@rate"), ("duration", "@duration_us{0.0} µs"), ("", "@direction")]
    return points.opts(
        marker=marker,
        size=9,
        color=EXPOSED if exposed else HIDDEN,
        line_color=EXPOSED if exposed else HIDDEN,
        fill_alpha=0.55 if exposed else 0.1,
        tools=["hover"],
        hover_tooltips=tips,
    )


def _limits(trace: Trace) -> list[Any]:
    import holoviews as hv

    lines = [hv.HLine(limit / 1e9, label=f"link limit {rate(limit)}") for limit in _link_limits(trace)]
    return [line.opts(color=FOREGROUND, line_dash="dashed", line_width=1.4) for line in lines]


def _link_limits(trace: Trace) -> list[float]:
    return sorted({device.link_bytes_per_s for device in trace.devices if device.link_bytes_per_s})


def _around(values: Array) -> tuple[float, float]:
    """Bounds of a logarithmic axis with a little room at both ends."""
    return float(values.min()) / 1.6, float(values.max()) * 1.6


def _roomy(plot: Any, element: Any) -> None:
    """A Bokeh hook: room for the last label of the axis."""
    plot.state.min_border_right = 34


def _round(figure: str) -> str:
    """`10 GB/s` for `10.0 GB/s`: a tick is exact."""
    number, unit = figure.split(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def _thinned(table: Table) -> Array:
    if len(table) <= MOST_POINTS:
        return np.arange(len(table))
    return np.sort(np.argsort(-table["duration_ns"], kind="stable")[:MOST_POINTS])


def _why_empty(table: Table, trace: Trace) -> str:
    if len(table):
        return f"{plural(len(table), 'copy', 'copies')} recorded, but none with both a size and a duration."
    if not trace.device_recorded:
        return "No device activity was recorded, so copies between host and device are unknown."
    return "No copies were recorded."


CHART = Chart("transfers", Copies, "Copies: size and bandwidth", draw)
