"""From what stands in JSON to int64 and float32 arrays. The usual case is one numpy call; oddities go one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuprof.model.table import Array

_INT64 = np.iinfo(np.int64)
# Below it a float64 of µs holds every decimal ns: its step is 2**-10 µs, the error of a reading at most 0.49 ns.
EXACT_US = 2.0**43
_LARGEST_US = _INT64.max // 1000


class InexactTimeError(ValueError):
    """Decimal µs too large for float64; read them from their text."""


class BadTimeError(ValueError):
    """A `ts` that is no number. `row` is the event, `found` what stands there."""

    def __init__(self, row: int, found: str):
        self.row, self.found = row, found
        super().__init__(found)


def integers(values: Sequence[Any], missing: int = -1) -> Array:
    """int64 of shape `(len(values),)`. Text is read as a number, larger ints are kept modulo 2**63, others missing."""
    found = _as_array(values)
    if _whole(found):
        return found
    return np.array([_integer(value, missing) for value in values], np.int64)


def floats(values: Sequence[Any]) -> Array:
    """float32 of shape `(len(values),)`; NaN for what is no number and for negative ones (absent)."""
    found = np.array([_float(value) for value in values], np.float32)
    return np.where(found < 0, np.nan, found)


def starts_ns(values: Sequence[Any]) -> Array:
    """µs as they stand in `ts` to int64 ns, exactly.

    InexactTimeError where float64 cannot hold them; BadTimeError for the first that is no number.
    """
    found = _as_array(values)
    if _whole(found):
        if len(found) and np.abs(found).max() > _LARGEST_US:
            raise BadTimeError(int(np.abs(found).argmax()), "a time outside any calendar")
        return found * 1000
    if found.ndim == 1 and found.dtype == np.float64 and np.isfinite(found).all():
        if np.abs(found).max() >= EXACT_US:
            raise InexactTimeError
        return _exact_ns(found)
    for row, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST_US:
            raise BadTimeError(row, "none" if value is None else repr(value))
    raise InexactTimeError


def whole_ns(values: Sequence[int | None]) -> Array:
    """ns that were read from text; BadTimeError for the first None or too large."""
    for row, value in enumerate(values):
        if value is None or abs(value) > _INT64.max:
            raise BadTimeError(row, "no plain number")
    return np.array(values, np.int64)


def durations_ns(values: Sequence[Any]) -> tuple[Array, int]:
    """µs as they stand in `dur` to int64 ns, and how many were negative or no number (taken as 0)."""
    found = _as_array(values)
    if _whole(found):
        whole = np.minimum(found, _LARGEST_US) * 1000
        return np.maximum(whole, 0), int((whole < 0).sum())
    decimal = np.array([_float(value) for value in values], np.float64)
    bad = ~(np.abs(decimal) < EXACT_US) | (decimal < 0)
    return _exact_ns(np.where(bad, 0.0, decimal)), int(bad.sum())


def text_ns(text: bytes) -> int | None:
    """The decimal µs of a JSON number as an integer of ns, rounded half up; None where it is no plain number."""
    whole, _, fraction = text.partition(b".")
    try:
        if not fraction:
            return int(whole) * 1000
        size = int(whole.lstrip(b"-") or b"0") * 1000 + (int(fraction[:4].ljust(4, b"0")) + 5) // 10
    except ValueError:
        return None
    return -size if text.startswith(b"-") else size


def products(values: Sequence[Any]) -> Array:
    """int64 products of `[x, y, z]` lists (grid, block), -1 where there is none; shape `(len(values),)`."""
    found = _as_array(values)
    if found.dtype == np.int64 and found.ndim == 2 and found.size and np.abs(found).max() < 1 << 20:
        return np.where((found >= 0).all(axis=1), found.prod(axis=1), -1)
    return np.array([_product(value) for value in values], np.int64)


def _exact_ns(microseconds: Array) -> Array:
    whole = np.floor(microseconds)
    ns: Array = whole.astype(np.int64) * 1000 + np.rint((microseconds - whole) * 1000).astype(np.int64)
    return ns


def _as_array(values: Sequence[Any]) -> Array:
    if not len(values):
        return np.empty(0, np.int64)
    try:
        return np.array(values)
    except (ValueError, OverflowError):
        return np.empty(len(values), object)


def _whole(found: Array) -> bool:
    return found.ndim == 1 and found.dtype == np.int64


def _integer(value: Any, missing: int) -> int:
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            value = _float(value)
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else missing
    if not isinstance(value, int) or isinstance(value, bool):
        return missing
    return value if _INT64.min <= value <= _INT64.max else value & _INT64.max


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _product(value: Any) -> int:
    if not isinstance(value, list) or not value:
        return -1
    sizes = [_integer(item, -1) for item in value]
    size = math.prod(sizes)
    return size if min(sizes) >= 0 and size <= _INT64.max else -1
