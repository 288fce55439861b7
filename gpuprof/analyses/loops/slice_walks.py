"""Which dimension of a tensor the turns of a loop walk along, one index after the other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gpuprof.analyses.basics.tensor_inputs import read_inputs
from gpuprof.model.known_operators import NARROW, SELECT, SLICES, UNBIND
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Walk:
    """`size`: of the dimension that is walked along, `dimension` its number; `rest`: the sizes of the others."""

    size: int
    dimension: int
    rest: tuple[int, ...]


def slice_walks(trace: Trace, turns: Array) -> tuple[Walk, ...] | None:
    """Those of a loop; `turns` are rows of `operators`, shape `(turns, operators of a turn)`.

    A slice walks where each turn takes the one index next to that of the turn before. None where the shape or the
    index of a slice was not recorded.
    """
    columns = _columns(trace, turns)
    if columns is None:
        return None
    moves = [(walk, np.diff(indices)) for walk, indices in columns]
    return tuple(walk for walk, by in moves if len(by) and abs(by[0]) == 1 and (by == by[0]).all())


def standing_slices(trace: Trace, turns: Array) -> dict[Walk, int]:
    """The one index that all turns (as for `slice_walks`) take along a dimension; empty where that is not known."""
    columns = _columns(trace, turns) or []
    return {walk: int(indices[0]) for walk, indices in columns if indices[0] >= 0 and (indices == indices[0]).all()}


def unbound_walk(trace: Trace, row: int) -> Walk | None:
    """What `for part in x` walks along, by the row of its `aten::unbind`; None where that was not recorded."""
    ((_, dims, values),) = _texts(trace, np.array([row]))
    numbers = _read(values)
    return _walk(dims, numbers[1]) if len(numbers) > 1 else None


def _columns(trace: Trace, turns: Array) -> list[tuple[Walk, Array]] | None:
    """The dimension and the indices of each slice of a turn that takes the same dimension in every turn."""
    found = []
    for rows in turns.T:
        if trace.names[trace.operators["name"][rows[0]]] not in SLICES - {UNBIND}:
            continue
        taken = [_taken(*each) for each in _texts(trace, rows)]
        known = [each for each in taken if each is not None]
        if len(known) < len(taken):
            return None
        if all(each == known[0][0] for each, _ in known):
            found.append((known[0][0], np.array([index for _, index in known])))
    return found


def _texts(trace: Trace, rows: Array) -> list[tuple[str, str, str]]:
    """Name, shapes and numbers of these operators as torch wrote them; empty where they were not recorded."""
    operators = trace.operators
    columns = (operators[name][rows].tolist() for name in ("name", "input_dims", "input_values"))
    texts = ([trace.names[index] if index >= 0 else "" for index in column] for column in columns)
    return list(zip(*texts, strict=True))


@lru_cache(maxsize=65_536)
def _taken(name: str, dims: str, values: str) -> tuple[Walk, int] | None:
    """The dimension and the index of one slice, -1 for several at once; None where they were not recorded."""
    numbers = _read(values)
    if len(numbers) < (3 if name == SELECT else 4):
        return None
    _, dimension, index, *end = numbers
    walk = _walk(dims, dimension)
    if walk is None or index is None or (name != SELECT and end[0] is None):
        return None
    single = name == SELECT or end[0] == (1 if name == NARROW else index + 1)
    return walk, index % walk.size if single else -1


def _walk(dims: str, dimension: int | None) -> Walk | None:
    inputs = read_inputs(dims)
    sizes = inputs[0].dims if inputs else ()
    if dimension is None or not -len(sizes) <= dimension < len(sizes):
        return None
    place = dimension % len(sizes)
    return Walk(sizes[place], place, sizes[:place] + sizes[place + 1 :]) if sizes[place] else None


@lru_cache(maxsize=65_536)
def _read(values: str) -> tuple[int | None, ...]:
    """Torch writes each number as text, and an empty one for a tensor."""
    try:
        found = json.loads(values)
    except ValueError:
        return ()
    return tuple(_number(each) for each in found) if isinstance(found, list) else ()


def _number(text: object) -> int | None:
    try:
        return int(text) if isinstance(text, str) else None
    except ValueError:
        return None
