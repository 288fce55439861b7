"""Numbers as people read them. The only place that formats a figure with its unit.

Times are int nanoseconds, sizes int bytes, shares floats in 0..1. Three significant digits, binary prefixes for
memory (KiB, MiB, GiB), decimal ones for rates (GB/s), a thin gap between number and unit.
"""

from __future__ import annotations

import math

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

UNKNOWN = "unknown"

_ROUNDS_UP = 0.9995  # of the next unit: three digits of it would already read 1,000
_TIME_UNITS = ((1, "ns"), (NS_PER_US, "µs"), (NS_PER_MS, "ms"), (NS_PER_S, "s"))
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    if magnitude >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if magnitude >= 9.995 else f"{value:.2f}"


def duration(ns: float | None) -> str:
    """A duration in ns as text: `840 ns`, `12.5 µs`, `1.21 s`, `3 min 20 s`; `unknown` for None or NaN."""
    if ns is None or math.isnan(ns):
        return UNKNOWN
    if abs(ns) >= 120 * NS_PER_S:
        minutes, seconds = divmod(round(abs(ns) / NS_PER_S), 60)
        return f"{'-' if ns < 0 else ''}{minutes} min {seconds} s"
    scale, unit = _TIME_UNITS[0]
    for scale_, unit_ in _TIME_UNITS:
        # 999.6 µs would round to "1,000 µs"
        if abs(ns) >= scale_ * _ROUNDS_UP:
            scale, unit = scale_, unit_
    return f"{ns:.0f} ns" if scale == 1 else f"{_three_digits(ns / scale)} {unit}"


def milliseconds(ns: float) -> float:
    """Nanoseconds as a float of milliseconds, kept to the nanosecond."""
    return round(ns / NS_PER_MS, 6)


def size(count: float | None) -> str:
    """A number of bytes as text: `512 B`, `3.10 MiB`, `14.7 GiB`; `unknown` for None or NaN."""
    if count is None or math.isnan(count):
        return UNKNOWN
    value, unit = float(count), _BYTE_UNITS[0]
    for unit in _BYTE_UNITS:
        if abs(value) < 1023.5 or unit == _BYTE_UNITS[-1]:
            break
        value /= 1024
    return f"{value:.0f} B" if unit == "B" else f"{_three_digits(value)} {unit}"


def rate(bytes_per_s: float | None) -> str:
    """A bandwidth as text in decimal units, `12.3 GB/s`; `unknown` for None or NaN."""
    if bytes_per_s is None or math.isnan(bytes_per_s):
        return UNKNOWN
    for scale, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if abs(bytes_per_s) >= scale * _ROUNDS_UP:
            return f"{_three_digits(bytes_per_s / scale)} {unit}"
    return f"{bytes_per_s:.0f} B/s"


def energy(joules: float | None) -> str:
    """An energy in J as text: `840 mJ`, `12.5 J`, `1.21 kJ`; `unknown` for None or NaN."""
    if joules is None or math.isnan(joules):
        return UNKNOWN
    for limit, scale, unit in ((0.9995, 1e3, "mJ"), (999.5, 1.0, "J")):
        if abs(joules) < limit:
            return f"{_three_digits(joules * scale)} {unit}"
    return f"{_three_digits(joules / 1e3)} kJ"


def percent(share: float | None) -> str:
    """A share in 0..1 as text: `44 %`, `3.2 %`, `< 0.1 %`; `unknown` for None or NaN."""
    if share is None or math.isnan(share):
        return UNKNOWN
    value = share * 100
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99 < value < 100:
        return f"{math.floor(value * 10) / 10:.1f} %"
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def count(number: int) -> str:
    """A whole number with thousands separators: `8,772`."""
    return f"{number:,}"


def factor(ratio: float) -> str:
    """A ratio as people say it: `1.31×`."""
    return f"{ratio:.2f}×" if ratio < 9.995 else f"{ratio:.1f}×"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 step`, `12 steps`, `3 copies` (with `many="copies"`)."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"
