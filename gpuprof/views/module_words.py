"""The modules with the most time of their own, in a few lines of text."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.modules.module_spans import ModuleSource
from gpuprof.analyses.modules.module_times import ModuleTimes
from gpuprof.units import percent
from gpuprof.views.module_rows import ModuleRow, flat, module_tree

MOST_LINES = 5
_LEAST_SHARE = 0.03
_INDENT = 11


def lines(results: Results, width: int) -> list[str]:
    """A heading and four modules at most; nothing with fewer than two modules, or none of 3 %. A path too long for
    `width` characters loses parts of its middle.

    By device time where a device was recorded, else by host time.
    """
    found = results.get(ModuleTimes)
    if len(found.times) < 2 or found.source not in (ModuleSource.CALLS, ModuleSource.FRAMES):
        return []
    whole = found.device_ns or results.span_ns
    on = "device" if found.device_ns else "host"
    scale = (whole or 1) * (found.marked_share or 1.0)
    own = [(_own_ns(row, on) / scale, row) for row in flat(module_tree(found.times))]
    largest = sorted((each for each in own if each[0] >= _LEAST_SHARE), key=lambda each: -each[0])[: MOST_LINES - 1]
    if not largest:
        return []
    of = "all device time" if found.device_ns else "the recorded time"
    head = f"Modules with the most {on} time of their own, forward and backward, of {of}:"
    return [head, *(f"  {percent(share):>7}  {_words(row, width - _INDENT)}" for share, row in largest)]


def _own_ns(row: ModuleRow, on: str) -> int:
    return row.time.own_host_ns if on == "host" else row.time.own_device_ns or 0


def _words(row: ModuleRow, width: int) -> str:
    copies = f" × {row.copies}" if row.copies > 1 else ""
    named = row.time.kind and not row.name.startswith(row.time.kind)
    after = copies + (f" ({row.time.kind})" if named else "")
    path = ".".join(row.path)
    first, *rest = path.split(".")
    words = path + after
    while len(words) > width and len(rest) > 1:
        rest.pop(0)
        words = f"{first} … {'.'.join(rest)}{after}"
    return words if len(words) <= width else words[: width - 1] + "…"
