"""What is worked out of a run as plain JSON, small enough to be kept: every analysis, finding, and simulated change.

Floats have nine significant digits. Of a long array are told its length, its sum, five of its values, and of whole
numbers a checksum. What is as in a run of which nothing was recorded is left out where a file is written.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import math
import pkgutil
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import msgspec
import numpy as np

import gpuprof.analyses
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.graph import Graph

Plain = Any
WHOLE = 6
"""Arrays of up to so many values are told one by one."""
DIGITS = 9
BRIEF = 40


@functools.cache
def analyses() -> tuple[type[Result], ...]:
    """Every analysis, by name."""
    found: set[type[Result]] = set()
    for module in pkgutil.walk_packages(gpuprof.analyses.__path__, "gpuprof.analyses."):
        members = vars(importlib.import_module(module.name)).values()
        found |= {each for each in members if isinstance(each, type) and issubclass(each, Result)}
    return tuple(sorted((each for each in found if not inspect.isabstract(each)), key=lambda each: each.__name__))


def of_analyses(results: Results) -> dict[str, Plain]:
    """Every analysis of the run."""
    return {kind.__name__: plain(results.get(kind)) for kind in analyses()}


def of_tables(trace: Trace) -> dict[str, Plain]:
    """The run as it was read."""
    names = ("names", "steps_from", "device_recorded", "main_thread", "span_start_ns", "span_end_ns", "devices")
    facts = {name: plain(getattr(trace, name)) for name in names}
    return {name: plain(table) for name, table in trace.tables.items()} | {"facts": facts}


def plain(value: Any) -> Plain:
    """Of anything that an analysis gives. Fields of Results, and what their properties say."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return rounded(float(value))
    if isinstance(value, np.ndarray):
        return array(value)
    if isinstance(value, Table):
        return {"rows": len(value)} | {each.name: array(value[each.name]) for each in value.schema.columns}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if isinstance(value, Intervals) and not len(value.starts):
        return []
    if hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, list | tuple):
        return several(value)
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    return of_object(value)


def of_object(value: Any) -> Plain:
    """Fields and properties by name; what a run is made of, and functions, are not told."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(each) for name, each in msgspec.structs.asdict(value).items() if each is not None}
    if not is_dataclass(value) or isinstance(value, Trace | Graph | Results):
        return type(value).__name__
    told = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    for kind in type(value).__mro__:
        for name, each in vars(kind).items():
            if isinstance(each, property | functools.cached_property) and not name.startswith("_"):
                told.setdefault(name, _of_property(value, getattr(value, name)))
    return told


def _of_property(owner: Any, value: Any) -> Plain:
    """Where it is one of those that a field lists, its place there."""
    if is_dataclass(value):
        for each in fields(owner):
            listed = getattr(owner, each.name)
            if isinstance(listed, tuple):
                for at, one in enumerate(listed):
                    if one is value:
                        return f"{each.name}[{at}]"
    return plain(value)


def several(values: list[Any] | tuple[Any, ...]) -> Plain:
    """Numbers as an array; of many other things the first and the number."""
    if values and all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        return array(np.array(values))
    told = [plain(each) for each in values[:WHOLE]]
    return told if len(values) <= WHOLE else [*told, {"of": len(values), "all": checksum(str(plain_all(values)))}]


def plain_all(values: list[Any] | tuple[Any, ...]) -> list[Plain]:
    """Of every one."""
    return [plain(each) for each in values]


def array(values: np.ndarray[Any, Any]) -> Plain:
    """The values of a short one; else how many, their sum, three in their places, and a checksum. Of a mask the places
    that it chooses."""
    if values.dtype.kind not in "biuf":
        return several(values.tolist())
    flat = values.reshape(-1)
    if len(flat) <= WHOLE:
        return [plain(each) for each in flat.tolist()]
    if flat.dtype.kind == "b":
        return {"n": len(flat), "true": array(np.flatnonzero(flat))}
    if (flat == flat[0]).all():
        return {"n": len(flat), "each": plain(flat[0].item())}
    known = flat[np.isfinite(flat)]
    places = [0, len(flat) // 2, len(flat) - 1]
    told: dict[str, Plain] = {"n": len(flat), "sum": plain(known.sum().item())}
    told["at"] = [plain(flat[at].item()) for at in places]
    if flat.dtype.kind == "f":
        return told | {"unknown": len(flat) - len(known)}
    return told | {"all": checksum(flat.astype("<i8").tobytes())}


def rounded(value: float) -> float | str:
    """To nine significant digits."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


def brief(value: Plain) -> Plain:
    """The beginning of a long text of it, with a checksum of the whole."""
    text = json.dumps(_coarse(value), ensure_ascii=False, separators=(",", ":"))
    return value if len(text) <= BRIEF else f"{text[:12]}… {checksum(text)}".replace('"', "'")


def _coarse(value: Plain) -> Plain:
    """With floats of fewer digits, so that a checksum does not depend on the last ones."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _coarse(each) for key, each in value.items()}
    return [_coarse(each) for each in value] if isinstance(value, list) else value


def checksum(content: bytes | str) -> str:
    """Eight letters that change with the content."""
    return f"{zlib.crc32(content if isinstance(content, bytes) else content.encode()):08x}"
