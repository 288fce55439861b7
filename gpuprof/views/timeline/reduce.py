"""Fits a Timeline into a number of events, and says what was left out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from gpuprof import units
from gpuprof.model.table import Array
from gpuprof.views.timeline.lanes import Curve, CurveLane, Lane, Series, Timeline

DEVICE_SHARE = 0.7
MOST_POINTS = 4_000
MOST_LETTERS = 60_000
NOT_KEPT = "recorded, but too many different ones to keep here"


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
        + (". Curves keep the highest of every few readings. " if _has_long_curves(timeline) else ". ")
        + hint
    )
    small = replace(timeline, lanes=_lanes(timeline, keep), reduced=note.strip())
    return with_fewer_texts(_without_unused_names(small), MOST_LETTERS)


def _has_long_curves(timeline: Timeline) -> bool:
    lanes = (lane for lane in timeline.lanes if isinstance(lane, CurveLane))
    return any(len(curve.time_ns) > MOST_POINTS for lane in lanes for curve in lane.curves)


def _without_unused_names(timeline: Timeline) -> Timeline:
    used = np.zeros(len(timeline.names), bool)
    for series in timeline.series():
        if series.name is not None:
            used[series.name] = True
        for detail in series.details:
            used[detail.values[detail.values >= 0] if detail.named else []] = True
    names = tuple(name for name, keep in zip(timeline.names, used.tolist(), strict=True) if keep)
    return _renamed(replace(timeline, names=names), np.cumsum(used) - 1)


def with_fewer_texts(timeline: Timeline, letters: int) -> Timeline:
    """The Timeline whose details have no more than `letters` of text: the rarest give way to NOT_KEPT.

    Returns the Timeline itself where they have no more. Names of events always stay.
    """
    kept, times = np.zeros(len(timeline.names), bool), np.zeros(len(timeline.names), np.int64)
    for series in timeline.series():
        if series.name is not None:
            kept[series.name] = True
        for detail in series.details:
            if detail.named:
                times += np.bincount(detail.values[detail.values >= 0], minlength=len(times))
    length = np.fromiter(map(len, timeline.names), np.int64, len(timeline.names))
    loose = np.flatnonzero(~kept & (times > 0))
    if length[loose].sum() <= letters:
        return timeline
    loose = loose[np.argsort(-times[loose], kind="stable")]
    kept[loose[np.cumsum(length[loose]) <= letters]] = True
    place = np.where(kept, np.cumsum(kept) - 1, kept.sum())
    names = [name for name, keep in zip(timeline.names, kept.tolist(), strict=True) if keep]
    return _renamed(replace(timeline, names=(*names, NOT_KEPT)), place)


def _renamed(timeline: Timeline, new_index: Array) -> Timeline:
    """Every index of a name replaced by `new_index` of it."""
    lanes = [
        replace(lane, rows=tuple(tuple(_renamed_series(series, new_index) for series in row) for row in lane.rows))
        if isinstance(lane, Lane)
        else lane
        for lane in timeline.lanes
    ]
    return replace(timeline, lanes=tuple(lanes))


def _renamed_series(series: Series, new_index: Array) -> Series:
    details = tuple(
        replace(d, values=np.where(d.values >= 0, new_index[d.values], -1)) if d.named else d for d in series.details
    )
    return replace(series, name=None if series.name is None else new_index[series.name], details=details)


def _thinned(curve: Curve) -> Curve:
    """The first, the last and the highest reading of each of MOST_POINTS ÷ 2 equal parts of the readings."""
    count = len(curve.time_ns)
    if count <= MOST_POINTS:
        return curve
    edges = np.linspace(0, count, MOST_POINTS // 2 + 1).astype(np.int64)
    known = np.where(np.isfinite(curve.value), curve.value, -np.inf)
    tops = [a + int(np.argmax(known[a:b])) for a, b in pairwise(edges.tolist())]
    keep = np.unique(np.concatenate([tops, edges[:-1], [count - 1]]))
    return replace(curve, time_ns=curve.time_ns[keep], value=curve.value[keep])


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
            lanes.append(replace(lane, curves=tuple(map(_thinned, lane.curves))))
            continue
        rows = [tuple(_take(series, next(masks), new_number) for series in row) for row in lane.rows]
        filled = [tuple(series for series in row if len(series)) for row in rows]
        lanes.append(replace(lane, rows=tuple(row for row in filled if row) or ((),)))
    return tuple(lanes)


def _take(series: Series, mask: Array, new_number: Array) -> Series:
    details = tuple(replace(detail, values=detail.values[mask]) for detail in series.details)
    return replace(
        series,
        start_ns=series.start_ns[mask],
        duration_ns=series.duration_ns[mask],
        name=None if series.name is None else series.name[mask],
        source=series.source[mask],
        link=None if series.link is None else new_number[series.link[mask]],
        details=details,
    )
