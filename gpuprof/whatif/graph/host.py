"""The host's part of the graph: the calls of the threads that drive the device, as chains.

Threads that take turns, such as the main thread and autograd's, become one chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.host_marks import driving_threads
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# Threads whose calls overlap for less of their time than this take turns (docs/design/whatif.md).
LEAST_OVERLAP_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class HostChain:
    """Calls in order, none within another; arrays of shape `(calls,)`, times in ns of the trace.

    `calls` rows of calls; `begins`/`ends` their times, a begin never before the previous end. `threads` rows of
    threads. `tail_ns`: host work after the last call, 0 where the main thread is not among them.
    """

    threads: tuple[int, ...]
    calls: Array
    begins: Array
    ends: Array
    tail_ns: int


def host_chains(trace: Trace, inside: Array) -> list[HostChain]:
    """The chains, that of the main thread first. `inside` masks the calls that count, shape `(len(calls),)`.

    Threads that launch nothing (NCCL's watchdog polls with cudaEventQuery) are left out.
    """
    threads = [int(t) for t in driving_threads(trace) if (inside & (trace.calls["thread"] == t)).any()]
    rows = {t: _outermost(trace, np.flatnonzero(inside & (trace.calls["thread"] == t))) for t in threads}
    threads.sort(key=lambda t: (t != trace.main_thread, -len(rows[t])))
    groups: list[list[int]] = []
    busy: list[Intervals] = []
    for thread in threads:
        own = intervals.union(intervals.of(trace.calls.take(rows[thread])))
        for at, other in enumerate(busy):
            shorter = min(own.total_ns, other.total_ns)
            if intervals.intersect(own, other).total_ns <= LEAST_OVERLAP_SHARE * shorter:
                groups[at].append(thread)
                busy[at] = intervals.joined(own, other)
                break
        else:
            groups.append([thread])
            busy.append(own)
    return [_chain(trace, group, np.concatenate([rows[t] for t in group])) for group in groups]


def outer_calls(trace: Trace, chains: list[HostChain]) -> Array:
    """For each row of calls the call of a chain that holds it (itself, or the runtime call around a driver call);
    int64 of shape `(len(calls),)`, -1 for calls of no chain."""
    calls = trace.calls
    outer = np.full(len(calls), -1, np.int64)
    for chain in chains:
        for thread in chain.threads:
            own = chain.calls[calls["thread"][chain.calls] == thread]
            of_thread = np.flatnonzero(calls["thread"] == thread)
            place = np.searchsorted(own, of_thread, side="right") - 1
            within = place >= 0
            begun, around = of_thread[within], own[place[within]]
            same = calls["start_ns"][begun] < calls["start_ns"][around] + calls["duration_ns"][around]
            outer[begun] = np.where(same | (begun == around), around, -1)
    return outer


def _outermost(trace: Trace, rows: Array) -> Array:
    starts = trace.calls["start_ns"][rows]
    ends = starts + trace.calls["duration_ns"][rows]
    latest = np.maximum.accumulate(ends)
    outer = np.ones(len(rows), bool)
    # A call that ends after the one before it is no part of it, however the clock rounded.
    outer[1:] = (starts[1:] >= latest[:-1]) | (ends[1:] > latest[:-1])
    return rows[outer]


def _chain(trace: Trace, threads: list[int], rows: Array) -> HostChain:
    calls = trace.calls
    rows = np.sort(rows)
    starts = calls["start_ns"][rows]
    ends = np.maximum.accumulate(starts + calls["duration_ns"][rows])
    begins = starts.copy()
    begins[1:] = np.maximum(starts[1:], ends[:-1])
    last = int(ends[-1])
    tail = _last_host_end(trace, threads, last) - last if trace.main_thread in threads else 0
    return HostChain(tuple(threads), rows, begins, np.maximum(ends, begins), tail)


def _last_host_end(trace: Trace, threads: list[int], last: int) -> int:
    operators = trace.operators.take(np.isin(trace.operators["thread"], threads))
    ends = [operators["start_ns"] + operators["duration_ns"], trace.steps["start_ns"] + trace.steps["duration_ns"]]
    return max([last, *(int(each.max()) for each in ends if len(each))])
