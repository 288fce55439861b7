"""The tables of the close look as objects: operators with what they read and made, values with how long they lived."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from typing import Any

from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.model.kinds import ValueKind
from gpuprof.model.look_schema import PARTS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace

_WHOLE = "bool", "int", "uint"
_LAYOUTS = {"sparse_coo": True, "sparse_csr": False}


@dataclass(frozen=True)
class Stored:
    """A sparse tensor: its shape, how many entries it stores, and whether as coordinates (COO) or by rows (CSR)."""

    shape: tuple[int, ...]
    entries: int
    coordinates: bool


@dataclass(frozen=True)
class Taken:
    """One tensor that an operator was given or made. `value`: row of looked_values, -1 where it has no storage to
    follow; `geometry`: None where it is not strided, or not known. `stored`: of a sparse tensor; `grad`: autograd
    follows what was given."""

    value: int
    elements: int
    geometry: Geometry | None
    stored: Stored | None = None
    grad: bool = False


@dataclass(frozen=True)
class LookedValue:
    """One content of one storage; see `LOOKED_VALUES`. `kept`: it was there at the end; `complex`: of complex
    numbers, which are viewed as real ones, too; `whole`: of whole numbers, or of flags; `zeros_share`: NaN where they
    were not counted."""

    storage: int
    made_by: int
    kept: bool
    elements: int
    kind: ValueKind
    read_outside: bool
    complex: bool = False
    whole: bool = False
    zeros_share: float = nan


@dataclass(frozen=True)
class LookedOperator:
    """One operator; see `LOOKED_OPERATORS`. `arguments`: those that are no tensors, None where they are not known."""

    name: str
    arguments: Sequence[Any] | None
    writes: bool
    backward: bool
    reads: tuple[Taken, ...]
    results: tuple[Taken, ...]


def operators_of(trace: Trace) -> list[LookedOperator]:
    """All of them, in the order in which they ended."""
    table = trace.tables["looked_operators"]
    reads = _by_operator(trace, trace.tables["looked_reads"], len(table))
    results = _by_operator(trace, trace.tables["looked_results"], len(table))
    names = trace.names_of(table)
    given = table["arguments"].tolist()
    writes, backward = table["writes"].tolist(), table["backward"].tolist()
    return [
        LookedOperator(
            str(names[row]),
            _arguments(trace.names[given[row]]) if given[row] >= 0 else None,
            writes[row],
            backward[row],
            tuple(reads[row]),
            tuple(results[row]),
        )
        for row in range(len(table))
    ]


def values_of(trace: Trace) -> list[LookedValue]:
    """All of them; what a storage was shown to outside of torch once is read there ever after."""
    table = trace.tables["looked_values"]
    operators = len(trace.tables["looked_operators"])
    shown = set(table["storage"][table["read_outside"]].tolist())
    columns = (
        table[name].tolist() for name in ("storage", "made_by", "gone_at", "elements", "kind", "dtype", "zeros_share")
    )
    return [
        LookedValue(
            storage,
            made_by if made_by < operators else -1,
            gone_at < 0,
            elements,
            ValueKind(kind),
            storage in shown,
            dtype >= 0 and "complex" in trace.names[dtype],
            dtype >= 0 and trace.names[dtype].startswith(_WHOLE),
            zeros_share,
        )
        for storage, made_by, gone_at, elements, kind, dtype, zeros_share in zip(*columns, strict=True)
    ]


def _by_operator(trace: Trace, table: Table, operators: int) -> list[list[Taken]]:
    found = [list[Taken]() for _ in range(operators)]
    values = len(trace.tables["looked_values"])
    columns = [table[name].tolist() for name in ("operator", "value", "position", "elements", "shape", "geometry")]
    followed = (
        table["grad"].tolist() if any(each.name == "grad" for each in table.schema.columns) else [False] * len(table)
    )
    rows = sorted(zip(*columns, followed, strict=True), key=lambda row: (row[0], row[2]))
    for operator, value, position, elements, shape, geometry, grad in rows:
        if position >= PARTS:
            continue
        known = shape >= 0 and geometry >= 0
        where = _geometry(trace.names[shape], trace.names[geometry]) if known else None
        stored = _stored(trace.names[geometry]) if value < 0 <= geometry else None
        if 0 <= operator < operators:
            found[operator].append(Taken(value if value < values else -1, elements, where, stored, grad))
    return found


@lru_cache(maxsize=1024)
def _stored(text: str) -> Stored | None:
    """Of `sparse_coo [6000, 6000] 126000`."""
    layout, _, rest = text.partition(" ")
    shape, _, entries = rest.rpartition(" ")
    sizes = _numbers(shape)
    if layout not in _LAYOUTS or sizes is None or not entries.isdigit():
        return None
    return Stored(sizes, int(entries), _LAYOUTS[layout])


@lru_cache(maxsize=8192)
def _geometry(shape: str, text: str) -> Geometry | None:
    """Of `[32, 6000]` and `128 (240000, 1)`."""
    sizes = _numbers(shape)
    offset, _, strides = text.partition(" ")
    steps = _numbers(strides)
    if sizes is None or steps is None or len(sizes) != len(steps) or not offset.isdigit():
        return None
    usual = contiguous(sizes)
    return usual if usual.strides == steps and offset == "0" else Geometry(sizes, steps, int(offset))


def _numbers(text: str) -> tuple[int, ...] | None:
    parts = [part.strip() for part in text.strip("()[] ").split(",")]
    parts = [part for part in parts if part]
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else None


@lru_cache(maxsize=8192)
def _arguments(text: str) -> Sequence[Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, list) else None
