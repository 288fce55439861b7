"""What each rule says of its case where one figure of an analysis is unknown, nothing, or another.

Rules read Results only. So a figure in them can be altered while all others stay: each default for what is unknown and
each guard against dividing by nothing then decides something. Kept, in tests/data/figures/altered_results.json, are the
alterations after which a rule says something else, with the thresholds that it has and with lenient ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.intervals import EMPTY, Intervals
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.registry import rule
from tests.rules.cases import case_modules
from tests.support.altering.altered import answer, case, marked
from tests.support.altering.lenient import lenient
from tests.support.figures import Plain

FILE = Path(__file__).parents[2] / "data" / "figures" / "altered_results.json"
WRITE = "python -m tests.support.altering.altered_results"
IMPOSSIBLE = (TypeError, ValueError, AttributeError, IndexError, KeyError, ZeroDivisionError, AssertionError)
"""How a rule ends where figures contradict each other."""
SOME = 3
"""Of a list so many are altered."""
Way = tuple[str, Any]


def _other_values(value: Any, kind: str) -> Iterator[Way]:
    if value is not None and "None" in kind:
        yield "unknown", None
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, int | float) and value:
        yield "zero", type(value)(0)
        yield "doubled", value * 2
    elif isinstance(value, Intervals) and len(value.starts):
        yield "empty", EMPTY
        yield "its first", Intervals(value.starts[:1], value.ends[:1])
    elif isinstance(value, tuple) and value and not hasattr(value, "_fields"):
        yield "empty", ()
        yield "its first", value[:1]
    elif isinstance(value, Table) and len(value):
        yield "empty", value.take(np.arange(0))
        yield "its first", value.take(np.arange(1))
    elif isinstance(value, Mapping) and value:
        yield "empty", {}
    elif isinstance(value, np.ndarray) and value.dtype == bool and value.ndim == 1:
        yield "none", np.zeros(len(value), bool)
        yield "all but the first", np.arange(len(value)) > 0
    elif isinstance(value, np.ndarray) and value.dtype.kind in "if":
        yield "zero", value * 0


def _ways(owner: Any) -> Iterator[Way]:
    """The same dataclass with one of its fields otherwise, however deep."""
    for each in fields(owner):
        value = getattr(owner, each.name)
        for way, instead in (*_other_values(value, str(each.type)), *_inner(value)):
            yield f"{each.name} {way}", replace(owner, **{each.name: instead})


def _inner(value: Any) -> Iterator[Way]:
    if is_dataclass(value) and not isinstance(value, type):
        yield from _ways(value)
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        for at, part in enumerate(value[:SOME]):
            if is_dataclass(part):
                for way, instead in _ways(part):
                    yield f"{at} {way}", (*value[:at], instead, *value[at + 1 :])


def _ways_of(kind: type[Result], result: Result) -> Iterator[Way]:
    empty = Trace(Source("empty.json"), (), empty_tables(), 0, 0)
    yield f"{kind.__name__} of an empty run", kind.of(empty, Results(empty))
    for way, instead in _ways(result):
        yield f"{kind.__name__} {way}", instead


class _Altered(Results):
    """Results of which one is given."""

    def __init__(self, whole: Results, kind: type[Result], instead: Result) -> None:
        self.trace, self.others = whole.trace, whole.others
        self._known = {**whole._known, kind: instead}


def alterations(results: Results) -> dict[str, Callable[[], Results]]:
    """All that can be altered of the figures that were asked for so far."""
    found: dict[str, Callable[[], Results]] = {}
    for kind, result in list(results._known.items()):
        if is_dataclass(result) and kind.__module__.startswith("gpuprof.analyses"):
            for way, instead in _ways_of(kind, result):
                found[way] = lambda kind=kind, instead=instead: _Altered(results, kind, instead)  # type: ignore[misc]
    return found


def _of(judged: Rule, results: Results, ways: list[str] | None) -> dict[str, Plain]:
    answer(judged, results)
    every = alterations(results)
    found = {}
    for way in ways if ways is not None else every:
        try:
            found[way] = answer(judged, every[way]())
        except IMPOSSIBLE:
            continue
    return found


def told(name: str, ways: dict[str, list[str]] | None = None) -> dict[str, dict[str, Plain]]:
    """What the rule says of its case, by thresholds and by what was altered."""
    rules = {"own": rule(name), "lenient": lenient(rule(name))}
    return {which: _of(judged, case(name), ways and ways[which]) for which, judged in rules.items()}


def kept() -> dict[str, dict[str, dict[str, Plain]]]:
    """Marks of what the rules said when the file was written."""
    content: dict[str, dict[str, dict[str, Plain]]] = json.loads(FILE.read_text())
    return content


def _chosen(name: str) -> dict[str, dict[str, Plain]]:
    """Marks where the answer is another than of the case itself; one of each that finds something."""
    chosen = {}
    for which, said in told(name).items():
        judged = rule(name) if which == "own" else lenient(rule(name))
        usual = marked(answer(judged, case(name)))
        marks: dict[str, Plain] = {}
        for way, found in said.items():
            mark = marked(found)
            if mark != usual and (not isinstance(found, dict) or mark not in marks.values()):
                marks[way] = mark
        chosen[which] = marks
    chosen["lenient"] = {way: mark for way, mark in chosen["lenient"].items() if chosen["own"].get(way, 0) != mark}
    return chosen


def write() -> None:
    """The file anew."""
    marks = {name: _chosen(name) for name in sorted(case_modules())}
    rows = [f"{json.dumps(name)}: {json.dumps(ways, indent=0, ensure_ascii=False)}" for name, ways in marks.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
