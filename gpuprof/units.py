"""Numbers as people read them. The only place that formats a figure with its unit.

Times are int nanoseconds, sizes int bytes, shares floats in 0..1. Three significant digits, binary prefixes for
memory (KiB, MiB, GiB), decimal ones for rates (GB/s), a thin gap between number and unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

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


def time_unit(span_ns: int) -> tuple[int, str]:
    """The unit that suits a time axis of that length: its ns and its name."""
    return next(((ns, name) for ns, name in reversed(_TIME_UNITS) if span_ns >= 2 * ns), _TIME_UNITS[0])


def byte_unit(most: float) -> tuple[int, str]:
    """The binary unit that suits a size axis up to `most` bytes: its bytes and its name."""
    powers = reversed(range(len(_BYTE_UNITS)))
    return next(((1024**power, _BYTE_UNITS[power]) for power in powers if most >= 1024**power), (1, "B"))


def milliseconds(ns: float) -> float:
    """Nanoseconds as a float of milliseconds, kept to the nanosecond."""
    return round(ns / NS_PER_MS, 6)


def gigabytes(count: float) -> float:
    """Bytes as GB of 10⁹, unrounded: for figures whose name ends so."""
    return count / 1e9


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


def operations(count: float | None) -> str:
    """A number of floating-point operations as text: `840 FLOP`, `12.3 GFLOP`; `unknown` for None or NaN."""
    if count is None or math.isnan(count):
        return UNKNOWN
    for scale, unit in ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP")):
        if abs(count) >= scale * _ROUNDS_UP:
            return f"{_three_digits(count / scale)} {unit}"
    return f"{count:.0f} FLOP"


def operation_rate(flops_per_s: float | None) -> str:
    """Floating-point operations per second as text: `312 TFLOP/s`; `unknown` for None or NaN."""
    text = operations(flops_per_s)
    return text if text == UNKNOWN else f"{text}/s"


def energy(joules: float | None) -> str:
    """An energy in J as text: `840 mJ`, `12.5 J`, `1.21 kJ`; `unknown` for None or NaN."""
    if joules is None or math.isnan(joules):
        return UNKNOWN
    for limit, scale, unit in ((0.9995, 1e3, "mJ"), (999.5, 1.0, "J")):
        if abs(joules) < limit:
            return f"{_three_digits(joules * scale)} {unit}"
    return f"{_three_digits(joules / 1e3)} kJ"


def power(watts: float | None) -> str:
    """A power in W as text: `250 W`; `unknown` for None or NaN."""
    return _whole(watts, "W")


def temperature(celsius: float | None) -> str:
    """A temperature as text: `61 °C`; `unknown` for None or NaN."""
    return _whole(celsius, "°C")


def frequency(mhz: float | None) -> str:
    """A clock rate in MHz as text: `1,410 MHz`; `unknown` for None or NaN."""
    return _whole(mhz, "MHz")


def _whole(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None or math.isnan(value) else f"{value:,.0f} {unit}"


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


def number(value: float) -> str:
    """A figure without a unit: `1,200`, `0.812`, `64`."""
    if isinstance(value, int):
        return count(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 step`, `12 steps`, `3 copies` (with `many="copies"`)."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


class Unit(NamedTuple):
    """How a figure whose name ends in a unit is written. `label`: that end is part of the figure's label."""

    write: Callable[[float], str]
    is_time: bool = False
    label: bool = False


# By the end of a figure's name, the longest first where one ends in another.
UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        "gb_per_s": Unit(lambda value: rate(value * 1e9)),
        "bytes": Unit(size),
        "percent": Unit(lambda value: percent(value / 100)),
        "share": Unit(percent, label=True),
        "mhz": Unit(frequency),
        "flops": Unit(operations, label=True),
        "ns": Unit(duration, is_time=True),
        "us": Unit(lambda value: duration(value * NS_PER_US), is_time=True),
        "ms": Unit(lambda value: duration(value * NS_PER_MS), is_time=True),
        "j": Unit(energy),
        "w": Unit(power),
        "c": Unit(temperature),
    }
)
# What may follow the unit: `wait_ms_per_step`, `bytes_each`, `bytes_needed`, `highest_share_of_device`.
_QUALIFIERS = ("per", "of", "each", "needed")


class Figure(NamedTuple):
    """A named value as people read it: `("wait per step", "58.0 ms")`."""

    label: str
    text: str


def unit_of(name: str) -> Unit | None:
    """The unit that a name carries at its end, or before `_per_…`, `_of_…`, `_each` or `_needed`; None for a count."""
    found = _split(name)
    return UNITS[found[1]] if found else None


def figure(name: str, value: float | int | str) -> Figure:
    """`name` without its unit, and `value` written in it: `wait_ms_per_step`, 58.0 is `wait per step`, `58.0 ms`.

    A name without a unit names what is counted; a text stays as it is.
    """
    found = _split(name)
    if isinstance(value, str) or found is None:
        return Figure(name.replace("_", " "), value if isinstance(value, str) else number(value))
    before, suffix, after = found
    unit = UNITS[suffix]
    words = [*before, *([suffix] if unit.label or not before else []), *after]
    return Figure(" ".join(words), unit.write(value))


def figures(named: Mapping[str, float | int | str]) -> tuple[Figure, ...]:
    """Every figure in order; where a number and its time would have the same label (`gaps`, `gaps_ms`) the time is
    called `gaps, total`."""
    made = [figure(name, value) for name, value in named.items()]
    labels = [each.label for each in made]
    return tuple(
        each._replace(label=f"{each.label}, total") if labels.count(each.label) > 1 and _is_time(name) else each
        for each, name in zip(made, named, strict=True)
    )


def _is_time(name: str) -> bool:
    unit = unit_of(name)
    return unit is not None and unit.is_time


def _split(name: str) -> tuple[list[str], str, list[str]] | None:
    """The words before the unit, the unit, and the words after it."""
    words = name.split("_")
    for suffix in UNITS:
        unit = suffix.split("_")
        for end in range(len(words), len(unit) - 1, -1):
            qualified = end == len(words) or words[end] in _QUALIFIERS
            if qualified and words[end - len(unit) : end] == unit:
                return words[: end - len(unit)], suffix, words[end:]
    return None


_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|min|[KMGT]?i?B(?:/s)?|kB/s|°C|MHz|W)(?:\W|$))")


def unbroken(words: str) -> str:
    """`words` with no line break between a number and its unit."""
    return _BEFORE_A_UNIT.sub("\u00a0", words)
