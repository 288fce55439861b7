"""Fits a Timeline into a number of events, and says what was left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuprof import units
from gpuprof.model.table import Array
from gpuprof.views.timeline.lanes import CurveLane, Detail, Lane, Series, Timeline

DEVICE_SHARE = 0.7


def reduced(timeline: Timeline, limit: int, *, hint: str = "") -> Timeline:
    """The longest `limit` events; the device's come first up to 70 % of them, steps are always kept.

    Returns the Timeline itself where it fits. `hint` says where the whole is to be seen; it ends the note.
    """
    if timeline.events <= limit:
        return timeline
    device = _durations(timeline, on_device=True)
    host = _durations(timeline, on_device=False)
    for_device = min(len(device), max(int(limit * DEVICE_SHARE), limit - len(host)))
    shortest = (_threshold(host, limit - for_device), _threshold(device, for_device))
    keep = [_kept(series, shortest[_on_device(series)]) for series in timeline.series()]
    shown = sum(int(mask.sum()) for mask in keep)
    note = (
        f"Reduced: the {units.count(shown)} longest of {units.count(timeline.events)} events are drawn; "
        f"left out are host events under {units.duration(shortest[False])}"
        + (f" and device events under {units.duration(shortest[True])}" if shortest[True] > 0 else "")
        + f". {hint}"
    )
    return replace(timeline, lanes=_lanes(timeline, keep), reduced=note.strip())


def _on_device(series: Series) -> bool:
    return series.table == "device_events"


def _durations(timeline: Timeline, *, on_device: bool) -> Array:
    parts = [s.duration_ns for s in timeline.series() if _on_device(s) == on_device and s.kind != "step"]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _threshold(durations: Array, count: int) -> int:
    """The duration from which on no more than `count` events are as long."""
    if count >= len(durations):
        return 0
    if count <= 0:
        return int(durations.max()) + 1
    first_out = np.partition(durations, len(durations) - count - 1)[len(durations) - count - 1]
    return int(first_out) + 1


def _kept(series: Series, shortest_ns: int) -> Array:
    if series.kind == "step":
        return np.ones(len(series), bool)
    mask: Array = series.duration_ns >= shortest_ns
    return mask


def _lanes(timeline: Timeline, keep: list[Array]) -> tuple[Lane | CurveLane, ...]:
    renumbered = np.concatenate([*keep, [False]])
    new_number = np.where(renumbered, np.cumsum(renumbered) - 1, -1)
    masks = iter(keep)
    lanes: list[Lane | CurveLane] = []
    for lane in timeline.lanes:
        if isinstance(lane, CurveLane):
            lanes.append(lane)
            continue
        rows = [tuple(_take(series, next(masks), new_number) for series in row) for row in lane.rows]
        filled = [tuple(series for series in row if len(series)) for row in rows]
        lanes.append(replace(lane, rows=tuple(row for row in filled if row) or ((),)))
    return tuple(lanes)


def _take(series: Series, mask: Array, new_number: Array) -> Series:
    details = tuple(Detail(d.label, d.unit, d.values[mask], d.unknown, d.words) for d in series.details)
    return replace(
        series,
        start_ns=series.start_ns[mask],
        duration_ns=series.duration_ns[mask],
        name=None if series.name is None else series.name[mask],
        source=series.source[mask],
        link=None if series.link is None else new_number[series.link[mask]],
        details=details,
    )
