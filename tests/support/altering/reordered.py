"""Runs in which what is numbered is numbered otherwise: names, functions, threads, and of a close look lines,
chains of lines and values. What matters then has the number 0. Nothing that is worked out of a run depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.schema import TABLES
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from tests.support.figures import Plain, analyses, plain

NAMES = "index of names"
LOOK_ROOMS = ("dataflow", "demand", "efficiency", "kernels", "loops", "rows", "training", "turns")
OF_NAMES = (
    *(("operators", column) for column in ("input_dims", "input_types", "input_values")),
    *(("looked_operators", column) for column in ("arguments", "optimizer", "name")),
    *(("looked_results", column) for column in ("geometry", "shape")),
    *(("looked_reads", column) for column in ("geometry", "shape")),
    *(("looked_values", "dtype"), ("operators", "name"), ("calls", "name"), ("device_events", "name")),
    *(("user_ranges", "name"), ("collectives", "group"), ("collectives", "element_type")),
)
"""Columns that name something, those first in which a name may be missing."""
NUMBERS: dict[str, tuple[str, ...]] = {
    "Copies": ("table", "names"),
    "EmbeddingGradients": ("thread",),
    "KernelOrigins": ("name", "issued_on"),
    "Kernels": ("table", "event_name"),
    "LookedLines": ("lines", "paths", "path", "place", "ran"),
    "LookedTime": ("line_ns", "spot", "spot_ns"),
    "SyncWaits": ("table", "names"),
    "ValueNumbers": ("content",),
}
"""Fields of analyses that tell numbers as they are."""
BY_NUMBER = {"LaunchPlaces", "LinePlaces", "ModuleSpans", "ModuleWork", "ValueGraph"}
"""Analyses that only others read: they tell everything by number."""
EQUALS: dict[str, tuple[str, ...]] = {
    "Collectives": ("asked",),
    "DeviceIdleWork": ("work",),
    "DeviceSpots": ("spots",),
    "HotSpots": ("spots",),
    "ModuleTimes": ("times",),
    "Operators": ("uses",),
    "ParallelismOfRank": ("groups",),
}
"""Fields in which what takes equally long, or comes equally often, stands in the order of its names."""
OF_PLACES = re.compile(r"places?$|.*_(at|place)$|(out|back|head|widened)$")
"""Fields that tell rows of the looked places."""


def first_names(trace: Trace) -> list[int]:
    """Of each column that names something the name that comes most often: to be put first."""
    found = []
    for table, column in OF_NAMES:
        numbers = trace.tables[table][column]
        known, counts = np.unique(numbers[numbers >= 0], return_counts=True)
        if len(known):
            found.append(int(known[counts.argmax()]))
    return list(dict.fromkeys(found))


def with_first_name(trace: Trace, first: int) -> Trace:
    """That name has number 0, those before it are the last ones."""
    order = np.roll(np.arange(len(trace.names)), -first)
    return replace(renumbered(trace, NAMES, order), names=tuple(trace.names[each] for each in order.tolist()))


def renumbered_runs(results: Results, most: int) -> Iterator[Results]:
    """The run, so many times numbered otherwise; the other ranks stay as they are."""
    for turn, first in enumerate(first_names(results.trace)[:most], 1):
        trace = with_others_first(with_first_name(results.trace, first), turn)
        yield Results(trace, tuple(other.trace for other in results.others))


def with_others_first(trace: Trace, turn: int) -> Trace:
    """All else that is numbered begins later, by a part of what there is; the first name stays."""
    return _with_later_values(_with_later_lines(_with_later_facts(trace, turn), turn), turn)


def _with_later_facts(trace: Trace, turn: int) -> Trace:
    stacks = trace.context.stacks
    if stacks is not None and stacks.functions:
        order = _later(len(stacks.functions), turn)
        trace = renumbered(trace, "row of the sampled functions", order)
        functions = tuple(stacks.functions[each] for each in order.tolist())
        trace = _with_context(trace, stacks=msgspec.structs.replace(stacks, functions=functions))
    order = _later(len(trace.threads), turn)
    if not len(order):
        return trace
    trace = renumbered(trace, "row of threads", order)
    tables = {**trace.tables, "threads": trace.threads.take(order)}
    main = int(np.append(np.argsort(order), -1)[trace.main_thread])
    return replace(trace, tables=tables, main_thread=main)


def _with_later_lines(trace: Trace, turn: int) -> Trace:
    look = trace.context.look
    if look is None or not look.places:
        return trace
    order, of_paths = _later(len(look.places), turn), _later(len(look.paths), turn)
    trace = renumbered(renumbered(trace, "row of the looked places", order), "row of the looked paths", of_paths)
    new = np.argsort(order).tolist()
    places = tuple(look.places[each] for each in order.tolist())
    paths = tuple(tuple(new[line] for line in look.paths[each]) for each in of_paths.tolist())
    return _with_context(trace, look=msgspec.structs.replace(look, places=places, paths=paths))


def _with_later_values(trace: Trace, turn: int) -> Trace:
    values = len(trace.looked_values)
    return with_first_value(trace, int(_later(values, turn)[0])) if values else trace


def with_first_value(trace: Trace, first: int) -> Trace:
    """The contents of that value's storage are the first ones, in the order in which they came."""
    storage = trace.looked_values["storage"]
    order = np.argsort(storage != storage[first], kind="stable")
    moved = renumbered(trace, "row of looked_values", order)
    return replace(moved, tables={**moved.tables, "looked_values": moved.looked_values.take(order)})


def _later(count: int, turn: int) -> Array:
    """By new number the old one; another one is first in each of some turns."""
    return np.roll(np.arange(count), -(turn * (count // 3 + 1)))


def renumbered(trace: Trace, unit: str, order: Array) -> Trace:
    """Columns of that unit, as the schema tells it; `order`: by new number the old one."""
    new, tables = np.append(np.argsort(order), -1), dict(trace.tables)
    for name, schema in TABLES.items():
        chosen = [each.name for each in schema.columns if each.unit == unit]
        if chosen:
            tables[name] = tables[name].replace(**{each: new[tables[name][each]] for each in chosen})
    return replace(trace, tables=tables)


def _with_context(trace: Trace, **facts: Any) -> Trace:
    return replace(trace, context=msgspec.structs.replace(trace.context, **facts))


def told(results: Results, rooms: tuple[str, ...] = ("",)) -> dict[str, Plain]:
    """What the analyses in these rooms say: no numbers, and lines instead of those of looked places. Operators of equal
    time that a look saw have no order: their names are left out."""
    look = results.context.look
    lines = [str(each) for each in look.places] if look is not None else []
    found: dict[str, Plain] = {}
    for kind in analyses():
        name = kind.__name__
        if name not in BY_NUMBER and kind.__module__.removeprefix("gpuprof.analyses.").startswith(rooms):
            left_out = {*NUMBERS.get(name, ()), *EQUALS.get(name, ())}
            said = {field: each for field, each in plain(results.get(kind)).items() if field not in left_out}
            found[name] = _with_lines(said, lines) if kind.__module__.split(".")[2] in LOOK_ROOMS else said
    return found


def _with_lines(said: Plain, lines: list[str]) -> Plain:
    if isinstance(said, list):
        return [_with_lines(each, lines) for each in said]
    if not isinstance(said, dict):
        return said
    listed = {"kept"} if isinstance(said.get("kept"), list) else set[str]()
    return {
        key: _named(each, lines) if OF_PLACES.match(key) or key in listed else _with_lines(each, lines)
        for key, each in said.items()
        if key != "names"
    }


def _named(numbers: Plain, lines: list[str]) -> Plain:
    """In any order, as lines of equal time have none; of many the number alone."""
    if isinstance(numbers, list):
        return sorted(str(_named(each, lines)) for each in numbers)
    if isinstance(numbers, dict):
        return numbers.get("n")
    return lines[numbers] if type(numbers) is int and 0 <= numbers < len(lines) else numbers
