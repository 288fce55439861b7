"""Functions of other libraries than torch, and of the user, that keep the device waiting for long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.idle_work import largest_within
from gpuprof.analyses.accounts.sampled_work import OWN_CODE, sampled_work
from gpuprof.analyses.basics.host_marks import driving_threads, main_operators
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.training.host_gaps import LONG_NS
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_CAUSES = ("idle_host", "idle_sync", "idle_outside_steps")
# Between two launches torch's own Python runs, and what it is called through; imports are paid once.
_TORCH = re.compile(r"(^|/)torch[/.]|^Tensor\.|^nn\.Module|^<string>|importlib|^(threading|contextlib)\b|^import$")
_MOST = 5
# of the functions' time, so that there is one such chain of calls
_OWNS = 0.6


@dataclass(frozen=True, eq=False)
class HostFunctions(Result):
    """Over pieces of idle time of at least 1 ms in which the host is late or lost its lead, the DataLoader's left out.

    Time inside operators is torch's. `functions`: name, line of the profiled cell where it is known, and ns; the
    longest first, five at most. `total_ns`: of all of them. `within`: the pieces in which they ran, a union. `owner`:
    the innermost recorded function that has most of that time with what it calls, and ns; None where none has, or the
    first of `functions` is it. Empty without a device, or where neither Python frames nor stacks were recorded.
    """

    functions: tuple[tuple[str, int | None, int], ...]
    total_ns: int
    within: Intervals
    owner: tuple[str, int] | None = None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the frames of the profiler; without those from the sampled stacks."""
        parts = results.get(DeviceIdle).parts
        late = intervals.joined(*(parts.get(cause, intervals.EMPTY) for cause in _CAUSES))
        late = intervals.subtract(late, results.get(Phases).input)
        long = late.ends - late.starts >= LONG_NS
        late = Intervals(late.starts[long], late.ends[long])
        if not len(late.starts):
            return cls((), 0, intervals.EMPTY)
        if len(trace.frames):
            found = _recorded(trace, late)
        else:  # a sample shows the line that called an operator, and not the operator
            late = intervals.subtract(late, main_operators(trace))
            found = sampled_work(trace, results.get(StackLines), late)
        known = [(name, line, ns) for name, line, ns in found if ns > 0 and not _TORCH.search(name)]
        total_ns = sum(ns for _, _, ns in known)
        if not known:
            return cls((), 0, intervals.EMPTY)
        owner = _owner(trace, late, total_ns)
        return cls(tuple(known[:_MOST]), total_ns, late, None if owner and owner[0] == known[0][0] else owner)


def _recorded(trace: Trace, late: Intervals) -> list[tuple[str, int | None, int]]:
    mine = np.isin(trace.frames["thread"], driving_threads(trace))
    parts = intervals.partition(late, largest_within(trace, trace.frames, mine, "parent", late))
    parts.pop("")
    return sorted(((name, None, part.total_ns) for name, part in parts.items()), key=lambda each: -each[2])


def _owner(trace: Trace, late: Intervals, total_ns: int) -> tuple[str, int] | None:
    frames = trace.frames.take(np.isin(trace.frames["thread"], driving_threads(trace)))
    held = intervals.covered(late, *_ends(frames))
    frames, held = frames.take(held > 0), held[held > 0]
    starts, ends = _ends(frames)
    spent = np.bincount(frames["name"], weights=held, minlength=len(trace.names))
    for name in np.flatnonzero(spent > _OWNS * total_ns):
        # a function that calls itself counts once
        mine = intervals.union(Intervals(starts[frames["name"] == name], ends[frames["name"] == name]))
        spent[name] = intervals.intersect(mine, late).total_ns
    # of functions within one another the inner one is shorter
    most = [name for name in np.flatnonzero(spent > _OWNS * total_ns) if not _TORCH.search(trace.names[name])]
    owner = min(most, key=lambda name: float(spent[name]), default=None)
    return None if owner is None else (trace.names[owner], int(spent[owner]))


def _ends(frames: Table) -> tuple[Array, Array]:
    return frames["start_ns"], frames["start_ns"] + frames["duration_ns"]


def is_own_code(name: str) -> bool:
    """Whether a name of `functions` stands for the user's own code."""
    return name == OWN_CODE
