"""Loops of Python that wait for the device in each of their turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.launched import launched_in
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.carried_names import carried_names
from gpuprof.analyses.loops.line_iterations import line_of
from gpuprof.analyses.loops.loop_operators import loop_operators
from gpuprof.analyses.loops.repeated_sequence import Turns
from gpuprof.analyses.loops.written_loops import WrittenLoop, notebook_sources
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.sync_waits import SyncKind, SyncWaits
from gpuprof.analyses.turns.waiting_turns import turns_at
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind, DeviceEventKind
from gpuprof.model.known_operators import UNBIND
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the names of two runs' usual turns, whatever their order: then they are one loop's
_LIKE = 0.8


@dataclass(frozen=True, eq=False)
class HostLoop:
    """All runs of one loop. `names`: the operators of its usual turn; `every`: those and all that they call, of all
    turns. `unbound`: a tensor was taken apart just before the first turn (`for row in x`).

    `within`: its runs, a union in order; `turns`: how many each has, int64 of that shape; `usual_ns`: the median turn.
    `waits`: rows of calls in which the host waits for the device; `wait_count`: how many waits that are, a copy and its
    synchronise together; `waiting`: in which operators, the most first. `kernels`, `copies`: what it launches on the
    device, `reads`: the copies from there. `busy_share`: of its time, 0..1.

    `written`: the loop in the notebook's text; `carried`: the names whose values one turn leaves to the next, by that
    text; `function`: the recorded Python call that it is in. None where they are not known.
    """

    names: tuple[str, ...]
    every: frozenset[str]
    unbound: bool
    within: Intervals
    turns: Array
    usual_ns: float
    waits: Array
    wait_count: int
    waiting: tuple[str, ...]
    kernels: int
    copies: int
    reads: int
    busy_share: float
    written: WrittenLoop | None
    carried: tuple[str, ...] | None
    function: str | None

    @property
    def count(self) -> int:
        """Turns of all runs."""
        return int(self.turns.sum())


@dataclass(frozen=True)
class HostLoops(Result):
    """Those of at least ten short turns on the main thread, outside input, backward and optimizer, longest first."""

    loops: tuple[HostLoop, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of top-level operators and the waits inside them."""
        waits = results.get(SyncWaits).table
        waits = waits.take((waits["kind"] == SyncKind.IMPLICIT) & (waits["thread"] == trace.main_thread))
        if not len(waits):
            return cls(())
        rows, section = loop_operators(trace, results.get(Phases))
        starts, tokens = trace.operators["start_ns"][rows], trace.operators["name"][rows]
        ends = starts + trace.operators["duration_ns"][rows]
        at = np.searchsorted(starts, waits["start_ns"], side="right") - 1
        inside = (at >= 0) & (waits["start_ns"] < ends[np.maximum(at, 0)]) if len(ends) else at >= 0
        found = turns_at(tokens, section, np.unique(at[inside]))
        loops = [_loop(trace, results, rows, group) for group in _grouped(tokens, found)]
        return cls(tuple(sorted(loops, key=lambda loop: -loop.within.total_ns)))


def _grouped(tokens: Array, found: list[Turns]) -> list[list[Turns]]:
    """Stretches whose usual turns are alike are runs of one loop."""
    groups: list[tuple[Counter[int], list[Turns]]] = []
    for turns in found:
        names = Counter(_usual(tokens, turns))
        for known, runs in groups:
            if 2 * (known & names).total() >= _LIKE * (known.total() + names.total()):
                runs.append(turns)
                break
        else:
            groups.append((names, [turns]))
    return [runs for _, runs in groups]


def _usual(tokens: Array, turns: Turns) -> tuple[int, ...]:
    return Counter(tuple(tokens[begin:end].tolist()) for begin, end in pairwise(turns.bounds)).most_common(1)[0][0]


def _loop(trace: Trace, results: Results, rows: Array, runs: list[Turns]) -> HostLoop:
    operators = trace.operators
    starts, names = operators["start_ns"][rows], operators["name"][rows]
    ends = starts + operators["duration_ns"][rows]
    begins = np.array([int(starts[run.bounds[0]]) for run in runs], np.int64)
    stops = np.array([int(ends[run.bounds[0] : run.bounds[-1]].max()) for run in runs], np.int64)
    within = Intervals(begins, stops)
    each_ns = [np.diff(starts[run.bounds[:-1]], append=stop) for run, stop in zip(runs, stops, strict=True)]
    on_main = operators["thread"] == trace.main_thread
    every = np.unique(operators["name"][on_main & intervals.contains(within, operators["start_ns"])])
    events = trace.device_events.take(launched_in(trace, within))
    device, longest = results.get(DeviceActivity).primary, int(np.argmax(stops - begins))
    busy = intervals.intersect(device.busy, within).total_ns if device else 0
    waits, count, waiting = _waits(trace, results, within)
    written = line_of(trace, results, int(begins[longest]), int(stops[longest]))
    return HostLoop(
        names=tuple(trace.names[name] for name in _usual(names, max(runs, key=lambda run: run.count))),
        every=frozenset(trace.names[name] for name in every.tolist()),
        unbound=any(_unbound_before(trace, rows, run) for run in runs),
        within=within,
        turns=np.array([run.count for run in runs], np.int64),
        usual_ns=float(np.median(np.concatenate(each_ns))),
        waits=waits,
        wait_count=count,
        waiting=waiting,
        kernels=int((events["kind"] == DeviceEventKind.KERNEL).sum()),
        copies=int((events["kind"] == DeviceEventKind.COPY).sum()),
        reads=int((events["copy"] == CopyKind.D2H).sum()),
        busy_share=busy / max(within.total_ns, 1),
        written=written,
        carried=_carried(trace, written),
        function=_function(trace, int(begins[longest]), int(stops[longest])),
    )


def _waits(trace: Trace, results: Results, within: Intervals) -> tuple[Array, int, tuple[str, ...]]:
    """Rows of the waiting calls, in order, their number, with a copy and the synchronise that belongs to it as one, and
    the operators that wait."""
    table, copied = results.get(SyncWaits).table, results.get(CopyWaits).copy_call
    mine = intervals.contains(within, table["start_ns"]) & (table["thread"] == trace.main_thread)
    mine &= table["kind"] == SyncKind.IMPLICIT
    calls = table["call"][mine]
    _, first = np.unique(np.where(copied[mine] >= 0, copied[mine], -1 - calls), return_index=True)
    names = Counter(trace.names[name] for name in table["operator_name"][mine][first].tolist() if name >= 0)
    return calls, len(first), tuple(name for name, _ in names.most_common())


def _carried(trace: Trace, loop: WrittenLoop | None) -> tuple[str, ...] | None:
    source = dict(notebook_sources(trace)).get(loop.file) if loop else None
    return carried_names(source, loop.line) if loop and source else None


def _unbound_before(trace: Trace, rows: Array, run: Turns) -> bool:
    first = int(run.bounds[0])
    near = rows[max(first - int(np.diff(run.bounds).max()), 0) : first + 1]
    return UNBIND in trace.names_of(trace.operators.take(near))


def _function(trace: Trace, start_ns: int, end_ns: int) -> str | None:
    """The innermost recorded Python call around all of it."""
    frames = trace.frames
    around = np.flatnonzero(
        (frames["thread"] == trace.main_thread)
        & (frames["start_ns"] <= start_ns)
        & (frames["start_ns"] + frames["duration_ns"] >= end_ns)
    )
    if not len(around):
        return None
    return trace.names[int(frames["name"][around[np.argmin(frames["duration_ns"][around])]])]
