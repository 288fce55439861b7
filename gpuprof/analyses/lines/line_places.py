"""Which line of the notebook a thread was in at any instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.inferred_line_events import with_spans
from gpuprof.analyses.lines.learned_line_events import learned_events
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_MOST_LINES = 3
_LEAST_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class LinePlaces(Result):
    """The line events of the recorded span, by thread and then by time, each with its end.

    `events` has the rows of `line_events`; `thread` (row of `threads`) and `end_ns` have its shape. `how` is as in
    `FollowedLines`, None where no line was followed; `within` is the part of the span in which they were. `borrowed`:
    threads of autograd, which work while the main thread waits in `backward()`: what they do counts for its line, but
    in code of the notebook that they run themselves (a recomputed module, an own `backward`) for that line.
    """

    how: str | None
    within: Intervals
    events: Table
    thread: Array
    end_ns: Array
    main_thread: int
    borrowed: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the line events, on the trace's clock."""
        followed, events = trace.context.lines, trace.line_events
        ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
        if followed is not None and followed.how == "samples":
            events = learned_events(trace, results.get(StackLines), ahead_ns)
        events = events.replace(time_ns=events["time_ns"] + ahead_ns)
        if followed is None:
            events = events.take(np.zeros(len(events), bool))
        elif followed.how != "monitoring":
            events = with_spans(trace, events)
        threads = _thread_rows(trace, events)
        order = np.lexsort((events["time_ns"], threads))
        events, threads = events.take(order), threads[order]
        end_ns = followed.end_ns + ahead_ns if followed else 0
        ends = np.append(events["time_ns"][1:], end_ns)[: len(events)]
        ends[np.flatnonzero(np.diff(threads))] = end_ns
        start_ns = max(trace.span_start_ns, followed.start_ns + ahead_ns) if followed else 0
        stop_ns = min(trace.span_end_ns, end_ns)
        places = cls(
            how=followed.how if followed and len(events) else None,
            within=intervals.single(start_ns, stop_ns) if len(events) and start_ns < stop_ns else intervals.EMPTY,
            events=events,
            thread=threads,
            end_ns=np.maximum(ends, events["time_ns"]),
            main_thread=trace.main_thread,
            borrowed=_autograd_threads(trace),
        )
        return replace(places, events=events.replace(cell_line=places._cell_line()))

    def _cell_line(self) -> Array:
        """`cell_line` of `events`; for code of other cells on autograd's threads the line that called `backward()`."""
        lines = self.events["cell_line"].copy()
        rows = np.flatnonzero((lines < 0) & (self.events["line"] > 0) & np.isin(self.thread, self.borrowed))
        calling = self._own(np.full(len(rows), self.main_thread), self.events["time_ns"][rows])
        lines[rows[calling >= 0]] = lines[calling[calling >= 0]]
        return lines

    def at(self, threads: Array, times: Array) -> Array:
        """The row of `events` that holds on each thread at each instant; int64 of `times`' shape, -1 where none does.

        Rows outside every followed line (`line` -1) count as none.
        """
        found = self._own(threads, times)
        lent = (found < 0) & np.isin(threads, self.borrowed)
        found[lent] = self._own(np.full(int(lent.sum()), self.main_thread), times[lent])
        return found

    def _own(self, threads: Array, times: Array) -> Array:
        found = np.full(len(times), -1, np.int64)
        for thread in np.unique(self.thread):
            rows, mine = np.flatnonzero(self.thread == thread), np.flatnonzero(threads == thread)
            at = np.searchsorted(self.events["time_ns"][rows], times[mine], side="right") - 1
            at = np.where(at >= 0, rows[np.maximum(at, 0)], -1)
            inside = (at >= 0) & (times[mine] < self.end_ns[at]) & (self.events["line"][at] > 0)
            found[mine] = np.where(inside, at, -1)
        return found

    def own_ns(self, ranges: Intervals) -> Array:
        """How long each row of `events` held on the main thread inside the union `ranges`, ns, shape `(events,)`."""
        held = intervals.covered(ranges, self.events["time_ns"], self.end_ns) if len(ranges.starts) else 0
        mine: Array = np.where((self.thread == self.main_thread) & (self.events["line"] > 0), held, 0)
        return mine

    def cell_lines(self, ranges: Intervals) -> tuple[int, ...]:
        """The lines of the profiled cell in which the main thread was in `ranges`: the three longest at most.

        A function of the notebook counts for the line of the cell that called it. Lines with less than a tenth of the
        time are left out; nothing where no line is known.
        """
        return _largest(self.events["cell_line"], self.own_ns(intervals.union(ranges)))

    def lines_at(self, threads: Array, times: Array, weights: Array) -> tuple[int, ...]:
        """The lines of the profiled cell that the threads were in at these instants, chosen alike by the weights."""
        places = self.at(threads, times)
        known = places >= 0
        return _largest(self.events["cell_line"][places[known]], weights[known])


def issued_at(trace: Trace, events: Table) -> tuple[Array, Array]:
    """The thread and the instant of what caused each device event: its launch, else its operator.

    `events` needs the columns `start_ns`, `call` and `operator`. Thread -2 and its own start where nothing is known.
    """
    threads, times = np.full(len(events), -2, np.int64), events["start_ns"].copy()
    for rows, table in ((events["operator"], trace.operators), (events["call"], trace.calls)):
        known = rows >= 0
        threads[known], times[known] = table["thread"][rows[known]], table["start_ns"][rows[known]]
    return threads, times


def _largest(lines: Array, spent: Array) -> tuple[int, ...]:
    total = np.bincount(np.maximum(lines, 0), weights=np.where(lines > 0, spent, 0))
    longest = np.argsort(-total, kind="stable")[:_MOST_LINES]
    return tuple(sorted(int(line) for line in longest if total[line] > 0 and total[line] >= _LEAST_SHARE * total.sum()))


def _thread_rows(trace: Trace, events: Table) -> Array:
    """The row of `threads` of each event; -1 for a thread of which the trace shows nothing."""
    tids = trace.threads["tid"]
    rows = np.full(len(events), -1, np.int64)
    for tid in np.unique(events["tid"]):
        known = np.flatnonzero(tids == tid)
        if len(known):
            rows[events["tid"] == tid] = known[0]
    return rows


def _autograd_threads(trace: Trace) -> Array:
    threads: Array = np.unique(trace.operators["thread"][backward_mask(trace)])
    return np.setdiff1d(threads, [trace.main_thread])
