"""What the CPU did while the device was idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.sampled_work import sampled_work
from gpuprof.analyses.basics.host_marks import driving_threads
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import EMPTY, Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

PYTHON = "Python between operators"
LOADER = "DataLoader.__next__"
MOST = 5
_CANDIDATES = 12
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class IdleWork:
    """`ns` of the device's idle time in which the CPU did `what`: a call, an operator (its own time), a Python
    function, the DataLoader, or Python between operators, which sampled stacks name more closely. `share` of the span,
    `line` of the profiled cell where one is known. `waits`: a call in which the host waits for the device, or copies:
    what it waited for was not recorded."""

    what: str
    ns: int
    share: float
    line: int | None = None
    waits: bool = False


@dataclass(frozen=True)
class DeviceIdleWork(Result):
    """`work`, the longest first: five at most, each of 2 % of the span at least. `idle_ns`: all idle time of the
    device, without `idle_unrecorded`, in which it worked; 0 where no device was recorded. `named_ns`: how much of that
    any name explains."""

    work: tuple[IdleWork, ...]
    idle_ns: int
    named_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """By the innermost of what the launching threads had recorded at that time."""
        found = results.get(DeviceIdle)
        if found.device is None or not found.total_ns:
            return cls((), found.total_ns, 0)
        gaps = intervals.union(Intervals(found.gaps["start_ns"], found.gaps["end_ns"]))
        idle = intervals.subtract(gaps, found.parts["idle_unrecorded"])
        work, named_ns = _work_within(trace, results, idle)
        return cls(tuple(each for each in work[:MOST] if each.share >= _LEAST_SHARE), idle.total_ns, named_ns)


def work_within(trace: Trace, results: Results, within: Intervals) -> list[IdleWork]:
    """What the CPU did in that idle time, a union, the longest first."""
    return _work_within(trace, results, within)[0]


def _work_within(trace: Trace, results: Results, idle: Intervals) -> tuple[list[IdleWork], int]:
    """Also how much of it any name explains, without what the samples of stacks say of Python."""
    claims = _claims(trace, results, idle)
    parts = intervals.partition(idle, claims)
    rest = parts.pop("")
    named_ns = sum(part.total_ns for part in parts.values())
    waiting = {trace.names[name] for name in results.get(SyncWaits).table["name"].tolist()}
    work = [
        IdleWork(name, part.total_ns, part.total_ns / trace.span_ns, _line(results, part), name in waiting)
        for name, part in parts.items()
    ]
    if trace.operators:
        # between the first and the last operator somebody's Python runs
        work += _in_python(trace, results, intervals.intersect(rest, intervals.single(*_span(trace))))
    return sorted(work, key=lambda each: -each.ns), named_ns


def _span(trace: Trace) -> tuple[int, int]:
    return trace.span_start_ns, trace.span_end_ns


def _in_python(trace: Trace, results: Results, within: Intervals) -> list[IdleWork]:
    """By line of the cell where stacks were sampled; what they do not show stays Python between operators."""
    named = sampled_work(trace, results.get(StackLines), within)
    left = within.total_ns - sum(ns for _, _, ns in named)
    work = [IdleWork(what, ns, ns / trace.span_ns, line) for what, line, ns in named]
    return [*work, IdleWork(PYTHON, left, left / trace.span_ns, None if named else _line(results, within))]


def _claims(trace: Trace, results: Results, idle: Intervals) -> list[tuple[str, Intervals]]:
    """The DataLoader, then calls, operators and Python functions with the most idle time in them, innermost first."""
    threads = driving_threads(trace)
    claims = [(LOADER, results.get(Phases).input)]
    for table, parents in ((trace.calls, None), (trace.operators, "parent"), (trace.frames, "parent")):
        mine = np.isin(table["thread"], threads)
        names = {name for name, _ in claims}
        claims += [each for each in largest_within(trace, table, mine, parents, idle) if each[0] not in names]
    return claims


def largest_within(
    trace: Trace, table: Table, mine: Array, parents: str | None, idle: Intervals
) -> list[tuple[str, Intervals]]:
    """Names of rows with the most own time in `idle` (a union), and when they ran without those within them of another
    name; `mine`: a mask over the rows, `parents`: the column with the row around each."""
    if not mine.any():
        return []
    held = intervals.covered(idle, table["start_ns"], table["start_ns"] + table["duration_ns"])
    own = held.copy()
    parent = table[parents] if parents else np.full(len(table), -1)
    inner = parent >= 0
    own -= np.bincount(parent[inner], weights=held[inner], minlength=len(table)).astype(np.int64)
    by_name = np.bincount(table["name"][mine], weights=np.maximum(own[mine], 0), minlength=len(trace.names))
    claims = []
    for name in np.argsort(-by_name, kind="stable")[:_CANDIDATES]:
        if by_name[name] <= 0:
            break
        rows = mine & (table["name"] == name)
        within = inner & rows[np.maximum(parent, 0)]
        ran = intervals.union(intervals.of(table.take(rows)))
        below = intervals.union(intervals.of(table.take(within))) if within.any() else EMPTY
        claims.append((trace.names[name], intervals.subtract(ran, below)))
    return claims


def _line(results: Results, part: Intervals) -> int | None:
    lines = results.get(LinePlaces).cell_lines(part)
    return int(lines[0]) if lines else None
