"""The device's spots as the stable object has them."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_spots import DeviceSpot, DeviceSpots
from gpuprof.report.source_place import SourcePlace
from gpuprof.units import milliseconds


def device_spots(results: Results) -> list[dict[str, Any]]:
    """Where the device's work comes from, the largest first; empty without a device."""
    return [_spot(results, each) for each in results.get(DeviceSpots).spots]


def _spot(results: Results, spot: DeviceSpot) -> dict[str, Any]:
    place = None if spot.source_file is None else SourcePlace.of(results.trace, spot.source_file)
    return {
        "share": spot.share,
        "ms": milliseconds(spot.ns),
        "backward_share": spot.backward_share,
        "profiled": place is not None and place.profiled,
        "cell": place.cell if place else None,
        "file": place.file if place else None,
        "line": spot.line,
        "cell_line": spot.cell_line,
        "operator": spot.operator,
        "kernel": spot.kernel,
    }
