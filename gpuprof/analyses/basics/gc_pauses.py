"""Pauses of Python's garbage collector, and what of them the device felt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_FULL = 2
# they take 0.1 s where torch's compiler is loaded, and come every few thousand steps
_FEWEST_FULL = 3


@dataclass(frozen=True, eq=False)
class CollectorPauses(Result):
    """Collections of at least 20 µs inside the steady steps (inside the span where no steps are known): what is
    collected in warm-up was mostly left by loading and compiling.

    `known`: whether collections were recorded at all. `pauses`: the union of their times. `count` and `full` (of the
    oldest generation): how many began there; one or two full ones are chance, and in none of these two. `lasting`:
    `pauses` without those. `idle_ns`: the part of it in which the first device had nothing to do; None without device
    activity.
    """

    known: bool
    count: int
    full: int
    pauses: Intervals
    lasting: Intervals
    idle_ns: int | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the collections that capture noted."""
        garbage, steps = trace.context.garbage, results.get(StepTime)
        if garbage is None:
            return cls(False, 0, 0, intervals.EMPTY, intervals.EMPTY, None)
        steady = intervals.union(intervals.of(trace.steps.take(steps.steady)))
        within = steady if steps.count else intervals.single(trace.span_start_ns, trace.span_end_ns)
        starts, lengths = np.array(garbage.start_ns, np.int64), np.array(garbage.duration_ns, np.int64)
        inside = intervals.contains(within, starts)
        oldest = np.array(garbage.generation, np.int64) == _FULL
        left = ~oldest if (inside & oldest).sum() < _FEWEST_FULL else np.ones(len(starts), bool)
        pauses, lasting = (
            intervals.intersect(intervals.union(Intervals(starts[each], (starts + lengths)[each])), within)
            for each in (np.ones(len(starts), bool), left)
        )
        device = results.get(DeviceActivity).primary
        return cls(
            known=True,
            count=int((inside & left).sum()),
            full=int((inside & left & oldest).sum()),
            pauses=pauses,
            lasting=lasting,
            idle_ns=None if device is None else intervals.subtract(lasting, device.busy).total_ns,
        )
