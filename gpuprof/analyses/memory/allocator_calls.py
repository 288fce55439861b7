"""Device memory taken from and given back to the driver while the run is already under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.host_marks import driving_threads, launching, named
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class AllocatorCalls(Result):
    """Calls such as cudaMalloc and hipFree of the threads that drive the device.

    Pinned host memory (`…Host…`) and the stream-ordered calls (`…Async`), which cost little, do not count.

    `everywhere_ns`: host time in all of them. The rest is over the steady steps: all but the first and those that
    StepTime calls warm-up. `steps`: how many those are, `within` their union, `steps_with` how many of them hold such
    a call, `rows` those calls (rows of calls), `allocations` and `frees` how many they are, `host` the union of their
    times on the host.
    Of the frees, `frees_outside` lie outside every operator, in `bursts` (runs without a launch or an allocation
    between), and `frees_alone` inside an operator that had allocated nothing before: torch's caching allocator only
    frees there to make room for an allocation.
    """

    everywhere_ns: int
    rows: Array
    steps: int
    steps_with: int
    within: Intervals
    allocations: int
    frees: int
    frees_outside: int
    frees_alone: int
    bursts: int
    host: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the calls and the steps."""
        calls, time = trace.calls, results.get(StepTime)
        steady = np.flatnonzero(time.steady & (np.arange(time.count) > 0))
        allocating = _device_memory(trace, CallKind.ALLOCATE)
        freeing = _device_memory(trace, CallKind.FREE)
        judged = np.isin(calls["step"], steady)
        outside = freeing & judged & (calls["operator"] < 0)
        chosen = calls.take((allocating | freeing) & judged)
        within = intervals.union(intervals.of(trace.steps.take(steady)))
        return cls(
            everywhere_ns=int(calls["duration_ns"][allocating | freeing].sum()),
            rows=np.flatnonzero((allocating | freeing) & judged),
            steps=len(steady),
            steps_with=len(np.unique(chosen["step"])),
            within=within,
            allocations=int((allocating & judged).sum()),
            frees=int((freeing & judged).sum()),
            frees_outside=int(outside.sum()),
            frees_alone=_alone(calls, allocating, freeing & judged),
            bursts=_bursts(calls, outside, launching(calls) | allocating) if outside.any() else 0,
            host=intervals.intersect(intervals.union(intervals.of(chosen)), within),
        )


def _device_memory(trace: Trace, kind: CallKind) -> Array:
    calls = trace.calls
    if not (calls["kind"] == kind).any():
        return np.zeros(len(calls), bool)
    mine = (calls["kind"] == kind) & np.isin(calls["thread"], driving_threads(trace))
    mask: Array = mine & ~named(trace, calls, "Host") & ~named(trace, calls, "Async")
    return mask


def _alone(calls: Table, allocating: Array, freeing: Array) -> int:
    """Frees inside operators in which no allocation came before."""
    rows = np.flatnonzero(freeing & (calls["operator"] >= 0))
    first: dict[int, int] = {}
    for operator, start in zip(
        calls["operator"][allocating].tolist(), calls["start_ns"][allocating].tolist(), strict=True
    ):
        first[operator] = min(start, first.get(operator, start))
    pairs = zip(calls["operator"][rows].tolist(), calls["start_ns"][rows].tolist(), strict=True)
    return sum(first.get(operator, start + 1) > start for operator, start in pairs)


def _bursts(calls: Table, freeing: Array, working: Array) -> int:
    """Runs of `freeing` calls of a thread with no `working` call between two of them."""
    rows = np.flatnonzero(freeing | working)
    rows = rows[np.lexsort((calls["start_ns"][rows], calls["thread"][rows]))]
    thread = calls["thread"][rows]
    begins = freeing[rows] & np.concatenate(([True], ~freeing[rows][:-1] | (thread[1:] != thread[:-1])))
    return int(begins.sum())
