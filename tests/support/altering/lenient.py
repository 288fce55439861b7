"""Rules with thresholds that let everything through, on runs that were not made for them.

What a rule works out after its thresholds is otherwise seen on its own case alone. Kept, in
tests/data/figures/lenient.json, are the findings, in the few letters of `altered.marked`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from gpuprof.analyses.basics.result import Results
from gpuprof.ingest.load import load_trace
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.registry import all_rules, rule
from tests.rules.cases import case_modules
from tests.support.altering.altered import altered, answer, case, marked
from tests.support.altering.jittered import jittered
from tests.support.built_runs import BUILT
from tests.support.critical import FAR
from tests.support.figures import Plain
from tests.support.mixed_runs import MIXED, mixed_results

DATA = Path(__file__).parents[2] / "data"
FILE = DATA / "figures" / "lenient.json"
WRITE = "python -m tests.support.altering.lenient"
RUNS: dict[str, Callable[[], Results]] = {
    "cpu-training": lambda: Results(load_trace(DATA / "cpu-training")),
    **{f"built/{name}": lambda make=make: Results(make()) for name, make in BUILT.items()},  # type: ignore[misc]
    **{f"mixed/{number:02}": functools.partial(mixed_results, number) for number in range(MIXED)},
}
CASES = tuple(f"case/{name}" for name in sorted(case_modules()))
JITTERS = 8


@functools.cache
def lenient(judged: Rule) -> Rule:
    """The rule with thresholds far below what they are; far above where its case then shows nothing."""
    results = case(judged.name)
    for name, default, _ in judged.thresholds():
        if isinstance(default, int | float):
            least = replace(judged, **{name: default / FAR})  # type: ignore[type-var]
            most = replace(judged, **{name: default * FAR})  # type: ignore[type-var]
            judged = least if isinstance(answer(least, results), dict) else most
    return judged


def told(run: str, seeds: Iterable[int] = range(JITTERS)) -> dict[str, Plain]:
    """What lenient rules find in that run, or one in its own case, shaken in these ways."""
    if run in CASES:
        return _told_of_case(run.partition("/")[2], seeds)
    results = RUNS[run]()
    said = {each.name: answer(lenient(each), results) for each in all_rules()}
    return {name: found for name, found in said.items() if isinstance(found, dict)}


def _told_of_case(name: str, seeds: Iterable[int]) -> dict[str, Plain]:
    """What the lenient rule finds in its own case, by how that was shaken."""
    results, judged = case(name), lenient(rule(name))
    said = {str(seed): answer(judged, altered(results, functools.partial(jittered, seed=seed))) for seed in seeds}
    return {seed: found for seed, found in said.items() if isinstance(found, dict)}


def kept(run: str) -> dict[str, Plain]:
    """Marks of what they found when the file was written."""
    content: dict[str, dict[str, Plain]] = json.loads(FILE.read_text())
    return content[run]


def write() -> None:
    """The file anew."""
    rows = []
    for run in (*RUNS, *CASES):
        marks: dict[str, Plain] = {}
        for name, found in told(run).items():
            if run in RUNS or marked(found) not in marks.values():
                marks[name] = marked(found)
        rows.append(f"{json.dumps(run)}: {json.dumps(marks, indent=0, ensure_ascii=False)}")
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
