"""The tree of modules as rows: repeated siblings (`layers.0` … `layers.11`) are one row, `layers.*` × 12."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpuprof.analyses.modules.module_spans import Path
from gpuprof.analyses.modules.module_times import ModuleTime

FEWEST_COPIES = 3
_NUMBER = re.compile(r"(?:.*_)?(?=\d+$)")


@dataclass(frozen=True)
class ModuleRow:
    """One row: `path` with `*` for a number that stands for several, `copies` of them all together, `name` its last
    part, and `time`, the sum over the copies. `below`: the rows of its parts."""

    path: Path
    name: str
    copies: int
    time: ModuleTime
    below: tuple[ModuleRow, ...] = ()

    @property
    def depth(self) -> int:
        """0 at the top."""
        return len(self.path) - 1


def module_tree(times: Sequence[ModuleTime]) -> tuple[ModuleRow, ...]:
    """The roots, from times with parents before what is below them."""
    below: dict[Path, list[ModuleTime]] = {}
    for time in times:
        below.setdefault(time.path[:-1], []).append(time)
    return _named(_folded([_row(time, below) for time in below.get((), [])]), ())


def flat(rows: Iterable[ModuleRow]) -> list[ModuleRow]:
    """Rows and all below them, each before what is below it."""
    found = []
    waiting = list(rows)[::-1]
    while waiting:
        row = waiting.pop()
        found.append(row)
        waiting.extend(reversed(row.below))
    return found


def _row(time: ModuleTime, below: dict[Path, list[ModuleTime]]) -> ModuleRow:
    parts = _folded([_row(each, below) for each in below.get(time.path, [])])
    return ModuleRow(time.path, time.path[-1], 1, time, tuple(parts))


def _folded(rows: list[ModuleRow]) -> list[ModuleRow]:
    """Neighbours of one make whose names are numbers, or a class and a number, as one row."""
    found: list[ModuleRow] = []
    start = 0
    for place in range(1, len(rows) + 1):
        if place < len(rows) and _alike(rows[start], rows[place]):
            continue
        run = rows[start:place]
        found.extend([_joined(run)] if len(run) >= FEWEST_COPIES else run)
        start = place
    return found


def _alike(one: ModuleRow, other: ModuleRow) -> bool:
    stem = _stem(one.name)
    return bool(one.time.kind) and stem is not None and stem == _stem(other.name) and _shape(one) == _shape(other)


def _shape(row: ModuleRow) -> tuple[object, ...]:
    """Its class and those of its parts."""
    return row.time.kind, row.copies, tuple(_shape(part) for part in row.below)


def _stem(name: str) -> str | None:
    """What stands before the number: nothing, or a class and `_`; None for names such as `fc1`."""
    found = _NUMBER.match(name)
    return None if found is None else found[0]


def _joined(rows: list[ModuleRow]) -> ModuleRow:
    first = rows[0]
    parts: dict[tuple[str, int], list[ModuleRow]] = {}
    for row in rows:
        met: dict[str, int] = {}
        for part in row.below:
            # frames number all modules of a class: the first `Linear` of each layer is one, whatever its number
            stem = _stem(part.name)
            key = stem or part.name
            met[key] = met.get(key, 0) + 1
            parts.setdefault((key, met[key]), []).append(part)
    below = tuple(each[0] if len(each) == 1 else _joined(each) for each in parts.values())
    same = all(row.name == first.name for row in rows)
    name = first.name if same else f"{_stem(first.name) or ''}*"
    return ModuleRow(first.path, name, sum(row.copies for row in rows), _summed([row.time for row in rows]), below)


def _summed(times: list[ModuleTime]) -> ModuleTime:
    first = times[0]

    def whole(name: str) -> int | None:
        known = [getattr(each, name) for each in times]
        return None if None in known else sum(known)

    return replace(
        first,
        calls=sum(each.calls for each in times),
        host_ns=sum(each.host_ns for each in times),
        own_host_ns=sum(each.own_host_ns for each in times),
        backward_host_ns=sum(each.backward_host_ns for each in times),
        host_share=sum(each.host_share for each in times),
        device_ns=whole("device_ns"),
        own_device_ns=whole("own_device_ns"),
        backward_device_ns=whole("backward_device_ns"),
        device_share=None if first.device_share is None else sum(each.device_share or 0.0 for each in times),
        grown_bytes=whole("grown_bytes"),
    )


def _named(rows: Iterable[ModuleRow], above: Path) -> tuple[ModuleRow, ...]:
    """With the paths as they are shown; a list that is never called itself is one row with its only part."""
    found = []
    for row in rows:
        while not row.time.calls and len(row.below) == 1:
            part = row.below[0]
            row = replace(part, name=f"{row.name}.{part.name}")
        path = (*above, row.name)
        found.append(replace(row, path=path, below=_named(row.below, path)))
    return tuple(found)
