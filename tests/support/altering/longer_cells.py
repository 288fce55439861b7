"""Every rule's case as the recorded part of a longer cell, the rest of which ran without the recording, faster.

What a saving is of the whole cell, and without the recording, is kept in tests/data/figures/longer_cells.json.
"""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cost, Loader, Window
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import _foreseen, rule
from tests.rules.cases import case_modules
from tests.support.altering.altered import altered, case, marked, said_of
from tests.support.altering.jittered import Draws
from tests.support.figures import Plain

FILE = Path(__file__).parents[2] / "data" / "figures" / "longer_cells.json"
WRITE = "python -m tests.support.altering.longer_cells"
CELLS = 10
STEP_NS = 1_000_000.0


def longer(trace: Trace, seed: int) -> Trace:
    """The run within a cell of that number: how much longer and faster, by what stopwatch, is drawn."""
    draws = Draws(seed)
    times, slowed = int(draws.of((1, 2, 20, 1000))), draws.of((1.0, 1.02, 1.2, 1.2, 3.0, 8.0, 8.1, 0.9))
    steps, end = max(len(trace.steps), 1), trace.span_end_ns
    measured = draws.of((0, 1, 1)) > 0
    window = Window(
        cell_start_ns=trace.span_start_ns, cell_end_ns=trace.span_start_ns + times * trace.span_ns,
        start_ns=trace.span_start_ns, end_ns=end, steps_seen=steps * times, steps_recorded=steps,
        first_step=int(draws.of((0, 0, 1))), ended_by="cell" if times == 1 else "steps",
        recorded_step_ns=STEP_NS if measured else None, plain_step_ns=STEP_NS / slowed if measured else None,
    )  # fmt: skip
    known = {"window": window}
    if draws.of((0, 1)):
        known["cost"] = Cost(operator_ns=draws.of((0, 500, 4000)))  # type: ignore[assignment]
    if draws.of((0, 1, 1)):
        trace = _with_iterations(trace, draws, slowed)
    return replace(trace, context=msgspec.structs.replace(trace.context, **known))


def _with_iterations(trace: Trace, draws: Draws, slowed: float) -> Trace:
    """Each step as an iteration, and after them as many that were not recorded, each with a wait and an optimizer."""
    steps, count = trace.steps, max(len(trace.steps), 12)
    usual = int(np.median(steps["duration_ns"])) if len(steps) else trace.span_ns // count
    lasting = np.append(steps["duration_ns"], [int(usual / slowed)] * count)
    lasting[len(steps) :] += np.arange(count) % 3 * (usual // 50)
    starts = np.append(steps["start_ns"], trace.span_end_ns + np.cumsum(lasting[len(steps) :]) - lasting[len(steps) :])
    plain = np.arange(len(starts)) >= len(steps)
    optimizer = np.where(plain, lasting * draws.of((0.0, 0.1, 0.3)), lasting * 0.2).astype(np.int64)
    columns = {"start_ns": starts, "duration_ns": lasting, "optimizer_ns": optimizer, "plain": plain}
    part = draws.of((0.0, 0.05, 0.4))
    waits = {"wait_start_ns": tuple(starts.tolist()), "wait_ns": tuple((lasting * part).astype(int).tolist())}
    loaders = trace.context.loaders or (Loader(workers=0),)
    loaders = (msgspec.structs.replace(loaders[0], **waits), *loaders[1:])
    context = msgspec.structs.replace(trace.context, loaders=loaders)
    return replace(trace, tables={**trace.tables, "iterations": Table(ITERATIONS, columns)}, context=context)


def foreseen(name: str, results: Results) -> Plain:
    """What the rule says, as the whole run is judged."""
    said = rule(name).judge(results)
    return said_of(_foreseen(results, said) if isinstance(said, Finding) else said)


def told(name: str, seeds: list[int]) -> dict[int, Plain]:
    """What the rule says of its case in longer cells."""
    results = case(name)
    return {seed: foreseen(name, altered(results, functools.partial(longer, seed=seed))) for seed in seeds}


@functools.cache
def kept() -> dict[str, dict[str, Plain]]:
    """Marks of what the rules said when the file was written."""
    content: dict[str, dict[str, Plain]] = json.loads(FILE.read_text())
    return content


def write() -> None:
    """The file anew: of each rule every answer once."""
    rows = []
    for name in sorted(case_modules()):
        marks: dict[str, Plain] = {}
        for seed, said in told(name, list(range(CELLS))).items():
            if marked(said) not in marks.values():
                marks[str(seed)] = marked(said)
        rows.append(f"{json.dumps(name)}: {json.dumps(marks, indent=0, ensure_ascii=False)}")
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
