"""Timeline → payload and buffer, in the two forms that `js/columns.js` reads.

Starts are gaps: the time since the end of the event before. `raw` keeps each column as a little-endian array, 8-byte
aligned, for the binary comm of the widget. `packed` makes links differences, cuts every column to the bytes it needs,
stores it byte plane by byte plane, deflates the whole and returns base64: 1M events take about 5 MB.

A column's place is `{"at", "count", "type"}` (raw) or `{"at", "count", "width", "step"}` (planes). `step` is null,
`delta`, `zigzag` (differences of either sign), or, in both forms, `gap`.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any, Protocol

import numpy as np

from gpuprof.model.table import Array
from gpuprof.views import theme
from gpuprof.views.timeline.lanes import CurveLane, Detail, Lane, Series, Timeline

_RAW_TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "i4": "i32", "f4": "f32", "f8": "f64"}


class _Writer(Protocol):
    def add(self, values: Array, step: str | None = None) -> dict[str, Any]: ...

    def add_starts(self, starts: Array, durations: Array) -> dict[str, Any]: ...

    def add_real(self, values: Array) -> dict[str, Any]: ...


class _Raw:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def add(self, values: Array, step: str | None = None) -> dict[str, Any]:
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        if step == "delta" or low < -(2**31) or high >= 2**32 or (low < 0 and high >= 2**31):
            return self._put(values.astype("<f8"))
        if low < 0:
            return self._put(values.astype("<i4"))
        return self._put(values.astype("<u1" if high < 2**8 else "<u2" if high < 2**16 else "<u4"))

    def add_starts(self, starts: Array, durations: Array) -> dict[str, Any]:
        gaps = np.diff(starts, prepend=0)
        gaps[1:] -= durations[:-1]
        return self.add(gaps) | {"step": "gap"}

    def add_real(self, values: Array) -> dict[str, Any]:
        return self._put(values.astype("<f8"))

    def _put(self, values: Array) -> dict[str, Any]:
        spec = {"at": self.length, "count": len(values), "type": _RAW_TYPES[values.dtype.str[1:]]}
        data = values.tobytes()
        self.parts.append(data + b"\0" * (-len(data) % 8))
        self.length += len(self.parts[-1])
        return spec


class _Planes(_Raw):
    def add(self, values: Array, step: str | None = None) -> dict[str, Any]:
        numbers = values.astype(np.int64)
        if step is None and len(numbers) and numbers.min() < 0:
            step = "zigzag"
        if step is not None:
            numbers = np.diff(numbers, prepend=0)
            step = "zigzag" if len(numbers) and numbers.min() < 0 else step
        if step == "zigzag":
            numbers = (numbers << 1) ^ (numbers >> 63)
        unsigned = numbers.astype("<u8")
        width = max((int(unsigned.max()).bit_length() + 7) // 8, 1) if len(unsigned) else 1
        planes = unsigned.view(np.uint8).reshape(len(unsigned), 8)[:, :width].T.tobytes()
        spec = {"at": self.length, "count": len(unsigned), "width": width, "step": step}
        self.parts.append(planes + b"\0" * (-len(planes) % 8))
        self.length += len(self.parts[-1])
        return spec

    def add_real(self, values: Array) -> dict[str, Any]:
        whole = len(values) > 0 and bool(np.isfinite(values).all() and (values == np.round(values)).all())
        return self.add(values, "zigzag") if whole else super().add_real(values)


def raw(timeline: Timeline) -> tuple[dict[str, Any], bytes]:
    """The payload (plain JSON types) and its buffer."""
    writer = _Raw()
    return _payload(timeline, writer), b"".join(writer.parts)


def packed(timeline: Timeline) -> tuple[dict[str, Any], str]:
    """The payload (plain JSON types) and its buffer, deflated, as base64 text."""
    writer = _Planes()
    payload = _payload(timeline, writer)
    return payload, base64.b64encode(zlib.compress(b"".join(writer.parts), 7)).decode("ascii")


def _payload(timeline: Timeline, writer: _Writer) -> dict[str, Any]:
    kinds = _kinds(timeline)
    index = {key: i for i, key in enumerate(kinds)}
    return {
        "version": 1,
        "title": timeline.title,
        "zero_ns": timeline.zero_ns,
        "end_ns": timeline.span_ns if timeline.end_ns is None else timeline.end_ns,
        "span_ns": timeline.span_ns,
        "names": list(timeline.names),
        "kinds": [_kind(key) for key in kinds],
        "lanes": [_lane(lane, writer, index) for lane in timeline.lanes],
        "stalls": [_series(series, writer, index) for series in timeline.stalls],
        "findings": [{"label": label, "ranges": ranges} for label, ranges in timeline.findings],
        "reduced": timeline.reduced,
    }


def _kinds(timeline: Timeline) -> list[str]:
    used = {series.kind for series in (*timeline.series(), *timeline.stalls)}
    used |= {curve.kind for lane in timeline.lanes if isinstance(lane, CurveLane) for curve in lane.curves}
    # a memset is an event and a kind of time: one entry
    return [key for key in dict.fromkeys((*theme.EVENTS, *theme.BUDGET)) if key in used]


def _kind(key: str) -> dict[str, str]:
    kind = theme.EVENTS.get(key) or theme.BUDGET[key]
    return {
        "key": key, "label": kind.label, "meaning": kind.meaning, "light": kind.light, "dark": kind.dark,
        "light_ink": kind.ink(), "dark_ink": kind.ink(dark=True),
    }  # fmt: skip


def _lane(lane: Lane | CurveLane, writer: _Writer, index: dict[str, int]) -> dict[str, Any]:
    if isinstance(lane, CurveLane):
        return _curve_lane(lane, writer, index)
    return {
        "type": "events",
        "label": lane.label,
        "title": lane.title,
        "shown": lane.shown,
        "row_height": lane.row_height,
        "stalls": lane.stalls,
        "overview": lane.overview,
        "device": lane.device,
        "main": lane.main,
        "rows": [[_series(series, writer, index) for series in row] for row in lane.rows],
    }


def _curve_lane(lane: CurveLane, writer: _Writer, index: dict[str, int]) -> dict[str, Any]:
    return {
        "type": "curves",
        "label": lane.label,
        "title": lane.title,
        "unit": lane.unit,
        "top": lane.top,
        "limit": lane.limit,
        "curves": [
            {
                "label": curve.label, "kind": index[curve.kind], "unit": curve.unit,
                "time": writer.add(curve.time_ns, "delta"), "value": writer.add_real(curve.value),
                "filled": curve.filled, "dashed": curve.dashed, "peak": curve.peak, "hold": curve.hold_ns,
            }
            for curve in lane.curves
        ],
    }  # fmt: skip


def _series(series: Series, writer: _Writer, index: dict[str, int]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "kind": index[series.kind],
        "start": writer.add_starts(series.start_ns, series.duration_ns),
        "duration": writer.add(series.duration_ns),
    }
    if series.name is not None:
        plain["name"] = writer.add(series.name)
    if series.link is not None:
        plain["link"] = writer.add(series.link, "zigzag")
    if series.details:
        plain["details"] = [_detail(detail, writer) for detail in series.details]
    return plain


def _detail(detail: Detail, writer: _Writer) -> dict[str, Any]:
    # -1 would cost four bytes where the rest takes one
    shift = 1 if detail.unknown == -1 else 0
    return {
        "label": detail.label, "unit": detail.unit, "words": list(detail.words) or None, "named": detail.named,
        "unknown": detail.unknown, "shift": shift, "value": writer.add(detail.values + shift),
    }  # fmt: skip
