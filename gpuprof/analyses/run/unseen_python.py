"""Long pauses of the device in which Python ran that nobody recorded, and the operators around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.host_marks import main_operators
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# neither the pace of launching nor torch's own Python makes pauses of that length
LONG_PAUSE_NS = 10 * units.NS_PER_MS
_CAUSES = ("idle_host", "idle_sync")
_MOST = 0.5


@dataclass(frozen=True, eq=False)
class UnseenPython(Result):
    """`pauses`: idle time of the device for which the host is the cause, in pieces of at least LONG_PAUSE_NS in which
    the main thread runs no operator; a union. `after`, `before`: the operators of the main thread that most of that
    time follows and precedes; empty where no one does. Empty where Python frames or stacks were recorded, without a
    device, and before the first and after the last operator, where it is not known that Python ran."""

    pauses: Intervals
    after: str
    before: str

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the idle time by cause and the outermost operators of the main thread."""
        parts, operators = results.get(DeviceIdle).parts, trace.operators
        mine = operators.take((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
        if len(trace.frames) or len(trace.stack_samples) or not len(mine):
            return cls(intervals.EMPTY, "", "")
        mine = mine.take(np.argsort(mine["start_ns"], kind="stable"))
        late = intervals.joined(*(parts.get(cause, intervals.EMPTY) for cause in _CAUSES))
        late = intervals.subtract(late, intervals.joined(results.get(Phases).input, main_operators(trace)))
        ends = mine["start_ns"] + mine["duration_ns"]
        late = intervals.clip(late, int(ends.min()), int(mine["start_ns"].max()))
        long = late.ends - late.starts >= LONG_PAUSE_NS
        pauses = Intervals(late.starts[long], late.ends[long])
        following = np.searchsorted(mine["start_ns"], pauses.starts, side="right")
        return cls(
            pauses,
            _mostly(trace, mine["name"][following - 1], pauses),
            _mostly(trace, mine["name"][np.minimum(following, len(mine) - 1)], pauses),
        )


def _mostly(trace: Trace, names: Array, pauses: Intervals) -> str:
    if not len(names):
        return ""
    spent = np.bincount(names, weights=pauses.ends - pauses.starts)
    most = int(spent.argmax())
    return trace.names[most] if spent[most] >= _MOST * pauses.total_ns else ""
