"""Where the device's work comes from: lines of text, and a table."""

from __future__ import annotations

import textwrap

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_spots import DeviceSpot, DeviceSpots
from gpuprof.report.device_shares import kernel, ran, where
from gpuprof.units import duration, percent
from gpuprof.views.blocks import TableBlock, TableCell

_TITLE = "Where the device’s work comes from"
_NOTE = (
    "Of the durations of its kernels and copies in the steady steps. Each stands at the line that launched it; work of "
    "the backward pass stands at the line of its forward operator."
)


def lines(results: Results, width: int) -> list[str]:
    """A heading and a line for each spot, wrapped; nothing without a device."""
    found = results.get(DeviceSpots)
    if not found.spots:
        return []
    told = [f"{_TITLE} ({duration(found.total_ns)} of kernels and copies):"]
    for spot in found.spots:
        place = where(results, spot)
        text = f"  {percent(spot.share):>7}  {f'{place}: ' if place else ''}{ran(spot)}{_backward(spot)}"
        told += textwrap.wrap(text, width, subsequent_indent=" " * 11, break_on_hyphens=False)
    return told


def table(results: Results) -> TableBlock:
    """A row for each spot; no rows without a device."""
    rows = tuple(
        (
            where(results, spot),
            ran(spot),
            kernel(spot),
            TableCell(duration(spot.ns), spot.ns),
            TableCell(percent(spot.share), spot.share),
            TableCell(percent(spot.backward_share), spot.backward_share),
        )
        for spot in results.get(DeviceSpots).spots
    )
    heads = ("where", "operator", "heaviest kernel", "time", "share", "of it backward")
    return TableBlock(_TITLE, heads, rows, _NOTE)


def _backward(spot: DeviceSpot) -> str:
    return f" ({percent(spot.backward_share)} of it backward)" if spot.backward_share > 0 else ""
