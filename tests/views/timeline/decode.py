"""The buffer of a payload read back in Python, as js/columns.js reads it."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f64": "<f8"}


def unpack(buffer: str) -> bytes:
    return zlib.decompress(base64.b64decode(buffer))


def column(buffer: bytes, spec: dict[str, Any]) -> np.ndarray:
    if "type" in spec:
        return np.frombuffer(buffer, TYPES[spec["type"]], spec["count"], spec["at"])
    planes = np.frombuffer(buffer, np.uint8, spec["count"] * spec["width"], spec["at"])
    values = np.zeros(spec["count"], np.uint64)
    for plane, digits in enumerate(planes.reshape(spec["width"], spec["count"])):
        values |= digits.astype(np.uint64) << np.uint64(8 * plane)
    if spec["step"] == "zigzag":
        values = (values >> np.uint64(1)) ^ (np.uint64(0) - (values & np.uint64(1)))
    signed = values.astype(np.int64)
    return np.cumsum(signed) if spec["step"] in ("delta", "zigzag") else signed


def starts(buffer: bytes, series: dict[str, Any]) -> np.ndarray:
    values = column(buffer, series["start"])
    if series["start"].get("step") != "gap":
        return values
    durations = column(buffer, series["duration"])
    return np.cumsum(values + np.concatenate(([0], durations[:-1])))


def series(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [s for lane in payload["lanes"] if lane["type"] == "events" for row in lane["rows"] for s in row]
