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
from gpuprof.model.trace import Trace

_CAUSES = ("idle_host", "idle_sync", "idle_outside_steps")
# Between two launches torch's own Python runs, and what it is called through; imports are paid once.
_TORCH = re.compile(r"(^|/)torch[/.]|^Tensor\.|^nn\.Module|^<string>|importlib|^(threading|contextlib)\b|^import$")
_MOST = 5


@dataclass(frozen=True, eq=False)
class HostFunctions(Result):
    """Over pieces of idle time of at least 1 ms in which the host is late or lost its lead, the DataLoader's left out.

    Time inside operators is torch's. `functions`: name, line of the profiled cell where it is known, and ns; the
    longest first, five at most. `total_ns`: of all of them. `within`: the pieces in which they ran, a union. Empty
    without a device, or where neither Python frames nor stacks were recorded.
    """

    functions: tuple[tuple[str, int | None, int], ...]
    total_ns: int
    within: Intervals

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
        return cls(tuple(known[:_MOST]), sum(ns for _, _, ns in known), late if known else intervals.EMPTY)


def _recorded(trace: Trace, late: Intervals) -> list[tuple[str, int | None, int]]:
    mine = np.isin(trace.frames["thread"], driving_threads(trace))
    parts = intervals.partition(late, largest_within(trace, trace.frames, mine, "parent", late))
    parts.pop("")
    return sorted(((name, None, part.total_ns) for name, part in parts.items()), key=lambda each: -each[2])


def is_own_code(name: str) -> bool:
    """Whether a name of `functions` stands for the user's own code."""
    return name == OWN_CODE
