"""Finds the steps of a run from the marks that torch leaves in a trace.

In this order: `ProfilerStep#N` ranges; else the intervals between DataLoader `__next__` starts, joined up to the one
with the optimizer's step; else what stands between two `Optimizer.step` ends, and before the first of them where the
operators there are those of the next step. No step is invented: a lone optimizer mark makes none (nobody knows where
its step began), and a `__next__` behind which nothing was trained or computed (the one that only finds the loader
exhausted, or evaluation between epochs) begins none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.model.schema import STEPS
from gpuprof.model.table import Array, Table

PROFILER_STEP = re.compile(r"ProfilerStep#(\d+)")
NEXT_BATCH = re.compile(r"enumerate\(DataLoader\)#.*__next__")
OPTIMIZER_STEP = re.compile(r"Optimizer\.step#")
BACKWARD = re.compile(r"autograd::engine::evaluate_function: |\w+Backward\d*$")

# A batch of evaluation does a fair part of the usual work; the end of an epoch (a new iterator, a log line) does not.
_LEAST_WORK = 0.25
# Two optimizers may step on one batch (a GAN).
_MOST_UPDATES = 2
# operators of a step in a row: fewer may stand before a step by chance
_LEAST_ALIKE = 4


class Steps(NamedTuple):
    """The steps, what they were found from (None: there are none) and the thread that holds the marks (-1: none)."""

    table: Table
    source: str | None
    thread: int


NO_STEPS = Steps(Table(STEPS), None, -1)


def find_steps(
    spans: Table,
    operators: Table,
    names: Sequence[str],
    *,
    window_start_ns: int | None = None,
    counted: int | None = None,
) -> Steps:
    """The steps by the first kind of mark that gives any.

    `window_start_ns` is when the recording began, where that is known to be the beginning of a step: the first
    optimizer mark then ends a step too. `counted`: how many steps of the optimizer that steps most were recorded, where
    that is known: of several optimizers of one class, whose marks are alike, only those of one end a step.
    """
    from_profiler = _profiler_steps(spans, names)
    if len(from_profiler.table):
        return from_profiler
    from_loader = _loader_steps(spans, operators, names)
    if len(from_loader.table):
        return from_loader
    return _optimizer_steps(spans, operators, names, window_start_ns, counted)


def _profiler_steps(spans: Table, names: Sequence[str]) -> Steps:
    marks = _matching(spans, names, PROFILER_STEP)
    if not len(marks):
        return NO_STEPS
    numbers = np.array([_number(names[name]) for name in marks["name"]], np.int64)
    # One step may be marked on several threads or in two categories: the longest range of a number counts.
    order = np.lexsort((-marks["duration_ns"], numbers))
    first = np.concatenate(([True], np.diff(numbers[order]) != 0))
    chosen = order[first]
    chosen = chosen[np.argsort(marks["start_ns"][chosen], kind="stable")]
    starts = marks["start_ns"][chosen]
    table = Table(
        STEPS,
        {"start_ns": starts, "duration_ns": marks["duration_ns"][chosen], "number": numbers[chosen]},
    )
    return Steps(table, "ProfilerStep", _busiest(marks))


def _loader_steps(spans: Table, operators: Table, names: Sequence[str]) -> Steps:
    """Intervals from one `__next__` to the following in which a step was made.

    With optimizer steps in the trace, a step ends with the interval that holds one; intervals before it that only ran
    backward are part of it (gradient accumulation). Without, an interval with a backward pass is a step. Where no
    interval has either the run is inference, and one counts with a quarter of the median number of operators.
    None where intervals hold many optimizer steps: the loader then only evaluates now and then, or feeds an inner loop.
    """
    marks = _outermost(_on_busiest_thread(_matching(spans, names, NEXT_BATCH)))
    if not len(marks):
        return NO_STEPS
    thread = int(marks["thread"][0])
    starts = marks["start_ns"]
    optimizer = _matching(spans, names, OPTIMIZER_STEP)
    edges = np.append(starts, np.iinfo(np.int64).max)
    updates = _count(_optimizer_ends(optimizer, operators, names), edges)
    stepped = updates > 0
    if stepped.any() and np.median(updates[stepped]) > _MOST_UPDATES:
        return NO_STEPS
    backward = _count(_matching(operators, names, BACKWARD)["start_ns"], edges) > 0
    if stepped.any():
        first, last = _joined(stepped, backward)
    else:
        first = last = np.flatnonzero(backward if backward.any() else _worked(marks, operators, edges))
    ends = np.append(starts[1:], _last_end(int(starts[-1]), thread, optimizer, operators, marks))
    table = Table(
        STEPS,
        {"start_ns": starts[first], "duration_ns": ends[last] - starts[first], "number": np.arange(len(first))},
    )
    return Steps(table, "DataLoader", thread) if len(table) else NO_STEPS


def _joined(stepped: Array, backward: Array) -> tuple[Array, Array]:
    """First and last interval of each step."""
    first, last = [], []
    begin = -1
    for row, (ends_step, trains) in enumerate(zip(stepped.tolist(), backward.tolist(), strict=True)):
        begin = row if begin < 0 else begin
        if ends_step:
            first.append(begin)
            last.append(row)
        if ends_step or not trains:
            begin = -1
    return np.array(first, np.int64), np.array(last, np.int64)


def _worked(marks: Table, operators: Table, edges: Array) -> Array:
    """Intervals with a fair part of the usual work outside `__next__`."""
    starts = marks["start_ns"]
    inside = _between(operators["start_ns"], starts, starts + marks["duration_ns"])
    work = _count(operators["start_ns"], edges) - inside
    usual = float(np.median(work[work > 0])) if (work > 0).any() else 0.0
    hit: Array = work >= max(1.0, _LEAST_WORK * usual)
    return hit


def _optimizer_steps(
    spans: Table, operators: Table, names: Sequence[str], window_start_ns: int | None, counted: int | None
) -> Steps:
    marks = _on_busiest_thread(_matching(spans, names, OPTIMIZER_STEP))
    ends = _of_one(_optimizer_ends(marks, operators, names), counted)
    if len(ends) and window_start_ns is not None and window_start_ns < ends[0]:
        ends = np.concatenate(([window_start_ns], ends))
    elif len(ends) > 1 and (start := _first_start(ends, operators, _busiest(marks))) is not None:
        ends = np.concatenate(([start], ends))
    if len(ends) < 2:
        return NO_STEPS
    table = Table(STEPS, {"start_ns": ends[:-1], "duration_ns": np.diff(ends), "number": np.arange(len(ends) - 1)})
    return Steps(table, "Optimizer", _busiest(marks))


def _first_start(ends: Array, operators: Table, thread: int) -> int | None:
    """Where the step before the first end began: with the operators, in the same order, that the next step consists of.
    None where others stand there: the recording then began within a step, or the first step did something else."""
    mine = _outermost(_by_start(operators.take(operators["thread"] == thread)))
    first, second = np.searchsorted(mine["start_ns"], ends[:2])
    alike, begin = mine["name"][first:second], 2 * first - second
    if len(alike) < _LEAST_ALIKE or begin < 0 or not np.array_equal(mine["name"][begin:first], alike):
        return None
    return int(mine["start_ns"][begin])


def _of_one(ends: Array, counted: int | None) -> Array:
    """The ends of steps of the one optimizer whose steps were counted, where each of its steps comes with as many of
    others: the recording ends with one of its own."""
    if not counted:
        return ends
    times = round(len(ends) / counted)
    if times < 2 or abs(len(ends) - times * counted) >= times:
        return ends
    return ends[::-1][::times][::-1]


def _optimizer_ends(marks: Table, operators: Table, names: Sequence[str]) -> Array:
    """When an optimizer had stepped. Of several that step in turn the busiest counts; marks that follow each other
    without a backward pass between (an optimizer for each layer) count once."""
    if not len(marks):
        return np.empty(0, np.int64)
    marks = marks.take(marks["name"] == np.bincount(marks["name"]).argmax())
    ends: Array = np.sort(marks["start_ns"] + marks["duration_ns"])
    backward = np.sort(_matching(operators, names, BACKWARD)["start_ns"])
    if not len(backward):
        return ends
    last: Array = ends[np.append(np.diff(np.searchsorted(backward, ends)) > 0, True)]
    return last


def _last_end(start: int, thread: int, optimizer: Table, operators: Table, marks: Table) -> int:
    """Where the last interval ends: with its last optimizer step, else with the last operator of the thread."""
    for table in (optimizer, operators, marks):
        ends = (table["start_ns"] + table["duration_ns"])[(table["start_ns"] >= start) & (table["thread"] == thread)]
        if len(ends):
            return int(ends.max())
    return start


def _matching(table: Table, names: Sequence[str], pattern: re.Pattern[str]) -> Table:
    hit = np.fromiter((pattern.match(name) is not None for name in names), bool, len(names))
    found = table.take(np.flatnonzero(hit[table["name"]])) if len(table) else table
    return _by_start(found)


def _by_start(table: Table) -> Table:
    return table.take(np.argsort(table["start_ns"], kind="stable"))


def _number(name: str) -> int:
    found = PROFILER_STEP.match(name)
    return int(found[1]) if found else -1


def _busiest(marks: Table) -> int:
    return int(np.bincount(marks["thread"]).argmax())


def _on_busiest_thread(marks: Table) -> Table:
    return marks.take(marks["thread"] == _busiest(marks)) if len(marks) else marks


def _outermost(marks: Table) -> Table:
    """Without those inside another one (a loader that reads from a loader)."""
    if not len(marks):
        return marks
    ends = np.maximum.accumulate(marks["start_ns"] + marks["duration_ns"])
    return marks.take(np.concatenate(([True], marks["start_ns"][1:] >= ends[:-1])))


def _count(times: Array, edges: Array) -> Array:
    return np.diff(np.searchsorted(np.sort(times), edges))


def _between(times: Array, starts: Array, ends: Array) -> Array:
    ordered = np.sort(times)
    return np.searchsorted(ordered, ends) - np.searchsorted(ordered, starts)
