"""What the card says of an event beyond its time: size, grid, occupancy, operator, input shapes, line of the cell."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from gpuprof.views.copy_words import DIRECTIONS
from gpuprof.views.timeline.lanes import Detail
from gpuprof.views.timeline.names import NameTable

MOST_SHAPES_LETTERS = 160
MOST_LINE_LETTERS = 90


class Facts:
    """Makes the details of series from the rows of the Trace's tables; without `with_source` lines are only numbers."""

    def __init__(self, trace: Trace, results: Results, names: NameTable, *, with_source: bool = True) -> None:
        self._trace, self._names = trace, names
        self._places = results.get(LinePlaces)
        source = trace.context.cell.source if trace.context.cell and with_source else ""
        self._source = source.splitlines()

    def of(self, table: str, kind: str, rows: Array) -> tuple[Detail, ...]:
        """The details of these rows of a table, drawn as that kind; only those of which any is known."""
        if table == "device_events":
            found = self._device(kind, rows)
        elif table == "operators":
            found = [self._shapes(rows), self._line(*_begun(self._trace.operators, rows))]
        elif table in ("calls", "user_ranges"):
            found = [self._line(*_begun(self._trace.tables[table], rows))]
        else:
            found = []
        return tuple(detail for detail in found if (detail.values != detail.unknown).any())

    def _device(self, kind: str, rows: Array) -> list[Detail]:
        events = self._trace.device_events.take(rows)
        own = _copied(events) if kind == "copy" else [_size(events)] if kind == "memset" else self._kernel(events)
        operator = events["operator"]
        return [*own, self._operator(operator), self._shapes(operator), self._line(*issued_at(self._trace, events))]

    def _kernel(self, events: Table) -> list[Detail]:
        blocks, threads = events["blocks"], events["block_threads"].astype(np.int64)
        known = (blocks > 0) & (threads > 0)
        pairs = np.where(known, blocks << 16 | np.minimum(threads, 0xFFFF), -1)
        grid = self._names.of_keys(pairs, lambda key: _grid(key >> 16, key & 0xFFFF))
        percent = events["occupancy_percent"]
        occupancy = np.where(np.isfinite(percent), np.round(np.nan_to_num(percent)), -1).astype(np.int64)
        return [Detail("grid", "", grid, named=True), Detail("occupancy", "%, estimated", occupancy)]

    def _operator(self, rows: Array) -> Detail:
        operators = self._trace.operators
        own = np.where(rows >= 0, operators["name"][rows], -1) if operators else np.full(len(rows), -1)
        root = np.where(rows >= 0, operators["name"][self._outermost(rows)], -1) if operators else own
        pairs = np.where(own >= 0, own.astype(np.int64) << 32 | np.maximum(root, 0), -1)
        names = self._trace.names
        within = self._names.of_keys(pairs, lambda key: _within(names[key >> 32], names[key & 0xFFFFFFFF]))
        return Detail("operator", "", within, named=True)

    def _outermost(self, rows: Array) -> Array:
        parent = self._trace.operators["parent"]
        root = rows.copy()
        while (above := (root >= 0) & (parent[root] >= 0)).any():
            root[above] = parent[root[above]]
        return root

    def _shapes(self, rows: Array) -> Detail:
        operators, names = self._trace.operators, self._trace.names
        dims = np.where(rows >= 0, operators["input_dims"][rows], -1) if operators else np.full(len(rows), -1)
        return Detail("inputs", "", self._names.of_keys(dims, lambda key: shapes_text(names[key])), named=True)

    def _line(self, threads: Array, times: Array) -> Detail:
        lines = np.full(len(times), -1, np.int64)
        if self._places.how is not None:
            at = self._places.at(threads, times)
            lines[at >= 0] = self._places.events["cell_line"][at[at >= 0]]
        return Detail("cell line", "", self._names.of_keys(lines, self._line_text), named=True)

    def _line_text(self, number: int) -> str | None:
        if number < 1:
            return None
        text = self._source[number - 1].strip() if number <= len(self._source) else ""
        return f"{number}: {_cut(text, MOST_LINE_LETTERS)}" if text else str(number)


def _begun(table: Table, rows: Array) -> tuple[Array, Array]:
    return table["thread"][rows], table["start_ns"][rows]


def _size(events: Table) -> Detail:
    return Detail("size", "bytes", events["bytes"])


def _copied(events: Table) -> list[Detail]:
    directions = tuple(DIRECTIONS[kind] for kind in CopyKind)
    memories = tuple("not applicable" if kind is HostMemory.NONE else kind.name.lower() for kind in HostMemory)
    return [
        _size(events),
        Detail("direction", "", events["copy"].astype(np.int64), int(CopyKind.NONE), directions),
        Detail("host memory", "", events["host_memory"].astype(np.int64), int(HostMemory.NONE), memories),
    ]


def _grid(blocks: int, threads: int) -> str:
    return f"{units.plural(blocks, 'block')} of {units.plural(threads, 'thread')}"


def _within(own: str, root: str) -> str:
    return own if own == root else f"{own}, in {root}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def shapes_text(dims: str) -> str | None:
    """`[[32, 64], [], [[2], [2]]]` as `32×64, 2 × [2]`; None where there is no tensor in it or it cannot be read."""
    try:
        read = json.loads(dims)
    except ValueError:
        return None
    parts = [text for text in map(_shape, read) if text] if isinstance(read, list) else []
    return _cut(", ".join(parts), MOST_SHAPES_LETTERS) or None


def _shape(one: Any) -> str:
    if not isinstance(one, list) or not one:
        return ""
    if all(isinstance(size, int) for size in one):
        return "×".join(map(str, one))
    return _list_of(_shape(part) for part in one)


def _list_of(shapes: Iterable[str]) -> str:
    runs = [(shape, len(list(same))) for shape, same in groupby(shape for shape in shapes if shape)]
    return "[" + ", ".join(f"{count} of {shape}" if count > 1 else shape for shape, count in runs) + "]" if runs else ""
