"""Every rule's case, altered in one respect: what the rule then says is kept in tests/data/figures/altered.json.

A table is emptied, or lacks its first or last row; a column is unknown; a fact of the run is missing, zero or doubled;
everything takes longer, or lies before the origin of time. So each default for what is missing, each guard against
dividing by zero and each first row matters to some run. Kept are the alterations after which a rule says something
else than after the others.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import RunContext
from gpuprof.model.device import Device
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.registry import rule
from tests.rules.cases import case_modules, case_of
from tests.support.figures import Plain, brief, checksum, plain

FILE = Path(__file__).parents[2] / "data" / "figures" / "altered.json"
TOLD = ("severity", "title", "explanation", "evidence", "change", "diff", "where", "saving")
ROWS_OF = {
    "operator": "operators",
    "call": "calls",
    "step": "steps",
    "thread": "threads",
    "node": "stack_nodes",
    "parent": None,
}
"""Which table a column has rows of; `parent` is one of its own."""
POINTED_AT = ("files", "functions", "modules")
"""Lists of facts that tables have rows of: without them a recording is not read."""
TIMES = ("start_ns", "duration_ns", "time_ns", "monotonic_ns")
WRITE = "python -m tests.support.altering.altered"
SILENT = 3
"""So many of the alterations after which a rule has nothing to say are kept."""
Alter = Callable[[Trace], Trace]


def answer(judged: Rule, results: Results) -> Plain:
    """What the rule says of the run: all but the change that is simulated."""
    return said_of(judged.check(results))


def said_of(said: Finding | Abstention | None) -> Plain:
    """An answer of a rule."""
    if isinstance(said, Finding):
        return {name: plain(getattr(said, name)) for name in TOLD}
    return f"{said.needs} | {said.how}" if isinstance(said, Abstention) else None


def marked(said: Plain) -> Plain:
    """It in a few letters: the severity, what is saved, and a checksum of all."""
    if not isinstance(said, dict):
        return said and f"abstains {checksum(said)}"
    saved = said["saving"] and said["saving"]["central_ns"]
    return f"{said['severity']} {saved} {brief({'all': said, 'pad': ' ' * 40})[-8:]}"


def case(name: str) -> Results:
    """The run of that rule's case in which it finds something."""
    run: Any = case_of(name).fires()
    return run if isinstance(run, Results) else Results(run)


def altered(results: Results, alter: Alter) -> Results:
    """The run, altered; the other ranks stay as they are."""
    return Results(alter(results.trace), tuple(other.trace for other in results.others))


def alterations(trace: Trace) -> dict[str, Alter]:
    """All that can be altered of that run."""
    found: dict[str, Alter] = {}
    for name, table in trace.tables.items():
        if len(table):
            rows = np.arange(len(table))
            found[f"no {name}"] = functools.partial(with_rows, name=name, keep=rows < 0)
            if len(table) > 1 and name != "threads":
                found[f"{name} from the second"] = functools.partial(with_rows, name=name, keep=rows > 0)
                found[f"{name} but the last"] = functools.partial(with_rows, name=name, keep=rows < len(rows) - 1)
            found |= dict(_of_columns(name, table))
    for way, factor, shift in (("slower", 7, 0), ("before zero", 1, -trace.span_end_ns)):
        found[way] = functools.partial(with_times, factor=factor, shift=shift)
    found["no main thread"] = lambda run: replace(run, main_thread=-1)
    found["no devices"] = lambda run: replace(run, devices=())
    for way, known in _leaves(facts(trace.context)):
        found[f"context {way}"] = functools.partial(_with_context, known=known)
    for way, known in _leaves(facts(trace.devices)):
        found[f"device {way}"] = functools.partial(_with_devices, known=known)
    return found


def with_rows(trace: Trace, name: str, keep: Array) -> Trace:
    """With those rows of a table only; what pointed to the others points to nothing."""
    place = np.where(keep, np.cumsum(keep) - 1, -1)
    tables = {**trace.tables, name: trace.tables[name].take(keep)}
    for other, table in tables.items():
        columns = [column for column, of in ROWS_OF.items() if column in _columns(table) and (of or other) == name]
        tables[other] = table.replace(**{column: _moved(place, table[column]) for column in columns})
    return replace(trace, tables=tables)


def _columns(table: Table) -> set[str]:
    return {column.name for column in table.schema.columns}


def _moved(place: Array, rows: Array) -> Array:
    return np.where(rows >= 0, np.append(place, -1)[np.minimum(rows, len(place))], -1)


def _of_columns(name: str, table: Table) -> Iterator[tuple[str, Alter]]:
    """Each column unknown; durations nothing and twice as long."""
    for column in table.schema.columns:
        missing, values = np.array([column.missing]).astype(column.dtype), table[column.name]
        if column.name not in TIMES and column.name != "name" and not (values == missing).all():
            unknown = np.repeat(missing, len(table))
            yield f"{name} without {column.name}", functools.partial(_with, name=name, values={column.name: unknown})
    if "duration_ns" in _columns(table):
        lasting = table["duration_ns"]
        for way, instead in (("of no time", lasting * 0), ("of twice the time", lasting * 2)):
            yield f"{name} {way}", functools.partial(_with, name=name, values={"duration_ns": instead})


def _with(trace: Trace, name: str, values: dict[str, Array]) -> Trace:
    return replace(trace, tables={**trace.tables, name: trace.tables[name].replace(**values)})


def with_times(trace: Trace, factor: int, shift: int) -> Trace:
    """All times multiplied, then moved; what the run's context says of times stays."""
    tables = {}
    for name, table in trace.tables.items():
        moved = {each: table[each] * factor + shift for each in ("start_ns", "time_ns") if each in _columns(table)}
        longer = {each: table[each] * factor for each in ("duration_ns",) if each in _columns(table)}
        tables[name] = table.replace(**moved, **longer)
    span = (trace.span_start_ns * factor + shift, trace.span_end_ns * factor + shift)
    return replace(trace, tables=tables, span_start_ns=span[0], span_end_ns=span[1])


def facts(value: Any) -> Any:
    """What the run knew of itself, as dicts and lists."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _leaves(known: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The facts with one of them otherwise: each part missing, each number zero and doubled, each truth turned.

    Lists of numbers, which belong together, stay.
    """
    items = list(known.items()) if isinstance(known, dict) else list(enumerate(known))
    for key, value in items:
        where = f"{path}{key}"
        if isinstance(value, list) and value and isinstance(value[0], int | float):
            continue
        for way, instead in _otherwise(value):
            yield f"{where} {way}", _put(known, key, instead)
        if isinstance(value, dict | list) and len(value) <= 8:
            for way, inner in _leaves(value, f"{where}."):
                yield way, _put(known, key, inner)
        if key in POINTED_AT:
            continue
        if isinstance(value, list) and value:
            yield f"{where} none", _put(known, key, [])
        if isinstance(known, dict) and value not in (None, [], {}):
            yield f"{where} unknown", _put(known, key, None)
            yield f"{where} left out", {name: each for name, each in known.items() if name != key}


def _otherwise(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, bool):
        return [("turned", not value)]
    if isinstance(value, int | float) and value:
        return [("zero", type(value)(0)), ("doubled", value * 2), ("one", type(value)(1))]
    return []


def _put(known: Any, key: Any, value: Any) -> Any:
    changed = known.copy()
    changed[key] = value
    return changed


def _with_context(trace: Trace, known: Any) -> Trace:
    return replace(trace, context=msgspec.convert(known, RunContext))


def _with_devices(trace: Trace, known: Any) -> Trace:
    return replace(trace, devices=tuple(msgspec.convert(known, list[Device])))


def told(name: str, ways: list[str] | None = None) -> dict[str, Plain]:
    """What the rule says of its case, by how that was altered; a fact that cannot be so is left out."""
    results, judged = case(name), rule(name)
    every = alterations(results.trace)
    found = {}
    for way in ways if ways is not None else every:
        try:
            run = altered(results, every[way])
        except msgspec.ValidationError:
            continue
        found[way] = answer(judged, run)
    return found


def kept() -> dict[str, dict[str, Plain]]:
    """Marks of what the rules said when the file was written."""
    content: dict[str, dict[str, Plain]] = json.loads(FILE.read_text())
    return content


def chosen(name: str) -> dict[str, Plain]:
    """Marks of the alterations that tell most: one for each different answer, and some without."""
    marks: dict[str, Plain] = {}
    for way, said in told(name).items():
        mark = marked(said)
        alike = sum(mark == other for other in marks.values())
        if alike < (SILENT if mark is None else 1):
            marks[way] = mark
    return marks


def write() -> None:
    """The file anew."""
    marks = {name: chosen(name) for name in sorted(case_modules())}
    rows = [f"{json.dumps(name)}: {json.dumps(ways, indent=0, ensure_ascii=False)}" for name, ways in marks.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
