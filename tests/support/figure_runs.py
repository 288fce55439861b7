"""The runs whose figures are kept, and the files that they are kept in: tests/data/figures.

A file is of one run, or of the three runs of a rule's case. It has, for each run, its parts (`analyses`, `findings`,
`whatif`, `tables`, `thresholds`), and in each part one line for each thing told. An analysis has no line, or lacks
fields, where it is as in `empty.json`, or as in the case's first run.

`python -m tests.support.figure_runs` writes all of them anew, `... looks/` those whose names begin so.
"""

from __future__ import annotations

import functools
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Source, Trace, empty_tables
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import all_rules, judge, rule
from gpuprof.whatif.predict import Replay
from tests.rules.cases import case_modules, case_of
from tests.support.built_runs import BUILT
from tests.support.critical import critical_values
from tests.support.figures import Plain, brief, of_analyses, of_tables, plain
from tests.support.looks.cut import of_cuts
from tests.support.looks.inside import of_demand
from tests.support.looks.program import ON_DEVICE, judged, recorded
from tests.support.mixed_cells import BARE, CELLS, bare_run, cell_results
from tests.support.mixed_runs import ALONE, MIXED, alone, mixed_results
from tests.support.simulated import of_change, of_whatif

DATA = Path(__file__).parents[1] / "data"
FOLDER = DATA / "figures"
OWN = DATA / "cpu-training"
LIMITS = FOLDER / "limits.json"
LIMITS_OF_RULES = FOLDER / "limits_of_rules.json"
KINDS = ("fires", "stays_quiet", "abstains")
EVERY = ("analyses", "findings", "whatif")
THRESHOLDS = "thresholds"
OF_LOOKS = {"demand": of_demand, "cuts": of_cuts}
CLOSE = 1e-7
"""Floats that are this close, relatively, are the same: sums depend a little on the machine."""
ABSTAINED = "abstained"
Told = dict[str, dict[str, Plain]]


def _empty() -> Trace:
    return Trace(Source("empty.json"), (), empty_tables(), 0, 0)


def _case(name: str, kind: str) -> Results:
    run: Any = getattr(case_of(name), kind)()
    return run if isinstance(run, Results) else Results(run)


def _files() -> dict[str, dict[str, tuple[Callable[[], Any], tuple[str, ...]]]]:
    """File, run: what makes it, and what is told of it."""
    files: dict[str, dict[str, tuple[Callable[[], Any], tuple[str, ...]]]] = {"empty": {"run": (_empty, EVERY)}}
    files["cpu-training"] = {"run": (functools.partial(load_trace, OWN), (*EVERY, "tables"))}
    files |= {f"built/{name}": {"run": (make, EVERY)} for name, make in BUILT.items()}
    files |= {
        f"mixed/{number:02}": {"run": (functools.partial(mixed_results, number), EVERY)} for number in range(MIXED)
    }
    files |= {
        f"cells/{number:02}": {"run": (functools.partial(cell_results, number), EVERY[:2])} for number in range(CELLS)
    }
    files |= {
        f"looks/{name}": {"run": (functools.partial(judged, name), (*EVERY[:2], *OF_LOOKS))} for name in recorded()
    }
    for name in ON_DEVICE:
        files[f"looks/{name}"]["device"] = (functools.partial(judged, name, device=True), EVERY[1:2])
    files["bare"] = {name: (functools.partial(bare_run, name), EVERY[:1]) for name in BARE}
    files["alone"] = {name: (functools.partial(alone, name), EVERY[:1]) for name in ALONE}
    for name in sorted(case_modules()):
        made = {kind: functools.partial(_case, name, kind) for kind in KINDS}
        files[f"cases/{name}"] = {
            kind: (make, (*EVERY[:2], THRESHOLDS) if kind != "abstains" else EVERY[:2]) for kind, make in made.items()
        }
    return files


FILES = _files()


def runs_with(part: str) -> list[str]:
    """`file:run`, for every run of which this part is told."""
    return [f"{file}:{run}" for file, runs in FILES.items() for run, (_, parts) in runs.items() if part in parts]


def told(file: str, run: str, part: str) -> Told:
    """That part, worked out now."""
    return _sized(file, run, _told(file, run, part))


def _sized(file: str, run: str, whole: Told) -> Told:
    """In brief of the runs that are many: the mixed ones, and those in which a rule abstains."""
    if run not in ("abstains", "device", *ALONE, *BARE) and not file.startswith(("mixed/", "cells/")):
        return whole
    return {name: {field: brief(value) for field, value in fields.items()} for name, fields in whole.items()}


def _told(file: str, run: str, part: str) -> Told:
    made = FILES[file][run][0]()
    results = made if isinstance(made, Results) else Results(made)
    if part == "analyses":
        return of_analyses(results)
    if part == THRESHOLDS:
        return {THRESHOLDS: critical_values(rule(file.rpartition("/")[2]), results)}
    if part in OF_LOOKS:
        return OF_LOOKS[part](results)
    if part == "tables":
        return of_tables(results.trace)
    return of_whatif(results) if part == "whatif" else of_findings(results)


def of_findings(results: Results) -> Told:
    """What the rules say, the best first, and who abstains."""
    said = judge(results, strict=True)
    found = {each.rule: {"place": place} | of_finding(results, each) for place, each in enumerate(said.findings)}
    silent = {each.rule: brief(f"{each.needs} | {each.how}") for each in said.abstained}
    return found | {ABSTAINED: {each.name: silent.get(each.name) for each in all_rules()}}


def of_finding(results: Results, finding: Finding) -> dict[str, Plain]:
    """All but what is the same in every finding of that rule."""
    names = ("severity", "title", "explanation", "evidence", "change", "diff", "where", "saving")
    facts = {name: plain(getattr(finding, name)) for name in names}
    return facts | {"edit": of_change(results.get(Replay), finding.replay_edit) if finding.replay_edit else None}


@functools.cache
def _read(file: str) -> dict[str, dict[str, Told]]:
    content: dict[str, dict[str, Told]] = json.loads((FOLDER / f"{file}.json").read_text())
    return content


def kept(file: str, run: str, part: str) -> Told:
    """That part, as it was when the file was written."""
    own = _read(file)[run][part]
    return {name: fields | own.get(name, {}) for name, fields in _usual(file, run, part).items()} | {
        name: fields for name, fields in own.items() if name not in _usual(file, run, part)
    }


def _usual(file: str, run: str, part: str) -> Told:
    """What is left out where it is the same: of the case's first run, or of a run of which nothing was recorded."""
    if file == "empty" or part not in EVERY[:2]:
        return {}
    first = run if file in ("alone", "bare") else next(iter(FILES[file]))
    usual = kept("empty", "run", part) if run == first else kept(file, first, part)
    return _sized(file, run, usual if part == "analyses" else {ABSTAINED: usual[ABSTAINED]})


def _less(whole: Told, usual: Told) -> Told:
    """Without what is as usual."""
    rest = {}
    for name, fields in whole.items():
        known = usual.get(name, {})
        own = {field: value for field, value in fields.items() if field not in known or known[field] != value}
        if own or not fields:
            rest[name] = own
    return rest


def differences(expected: Plain, got: Plain, where: str = "") -> Iterator[str]:
    """Each place at which they differ, with both values."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in dict.fromkeys([*expected, *got]):
            yield from differences(expected.get(key), got.get(key), f"{where}.{key}" if where else key)
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for at, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from differences(one, other, f"{where}[{at}]")
    elif not _same(expected, got):
        yield f"{where}: expected {expected!r}, got {got!r}"


def _same(one: Plain, other: Plain) -> bool:
    if isinstance(one, float) and isinstance(other, int | float) and not isinstance(other, bool):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def check(name: str, part: str) -> None:
    """Fails with the first places at which a run's figures are no longer what they were."""
    file, _, run = name.partition(":")
    found = list(differences(kept(file, run, part), json.loads(json.dumps(told(file, run, part)))))
    more = f"\n… and {len(found) - 10} more" if len(found) > 10 else ""
    assert not found, (
        f"{part} of {name} are not what they were (meant to be? python -m tests.support.figure_runs):\n"
        + "\n".join(found[:10])
        + more
    )


def write(among: str = "") -> None:
    """Every file anew whose name begins so."""
    for file, runs in FILES.items():
        if not file.startswith(among):
            continue
        content: dict[str, dict[str, Told]] = {run: {} for run in runs}
        path = FOLDER / f"{file}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        for run, (_, parts) in runs.items():
            for part in parts:
                whole = json.loads(json.dumps(told(file, run, part)))
                content[run][part] = _less(whole, _usual(file, run, part))
            path.write_text(_lines(content))  # the next run is told by this one
            _read.cache_clear()


def _lines(content: dict[str, dict[str, Told]]) -> str:
    """JSON with one line for each thing told."""
    blocks = []
    for run, parts in content.items():
        inner = []
        for part, things in parts.items():
            rows = [
                f"{json.dumps(name)}: {json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}"
                for name, fields in things.items()
            ]
            inner.append(f"{json.dumps(part)}: {{\n" + ",\n".join(rows) + "\n}")
        blocks.append(f"{json.dumps(run)}: {{\n" + ",\n".join(inner) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def write_limits() -> None:
    """The values of limits at which figures change."""
    from tests.support.altering.limits_of_rules import limits_of_rules, of_rule_limit
    from tests.support.limits import limits, of_limit

    kept = {key: told for key, limit in limits().items() if (told := of_limit(limit))}
    of_rules = {key: told for key, limit in limits_of_rules().items() if (told := of_rule_limit(limit))}
    for path, found in ((LIMITS, kept), (LIMITS_OF_RULES, of_rules)):
        rows = [f"{json.dumps(key)}: {json.dumps(told, separators=(',', ':'))}" for key, told in found.items()]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def write_altered() -> None:
    """What becomes of cases, runs and files that are altered."""
    from tests.support.altering import altered, altered_results, lenient, longer_cells, odd_files, tiny_runs

    for kind in (altered, altered_results, lenient, longer_cells, tiny_runs):
        kind.write()
    with tempfile.TemporaryDirectory() as folder:
        odd_files.write(Path(folder))


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else "")
    write_limits()
    write_altered()
