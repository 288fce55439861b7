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


@dataclass(frozen=True, eq=False)
class CollectorPauses(Result):
    """Collections of at least 20 µs inside the steady steps (inside the span where no steps are known): what is
    collected in warm-up was mostly left by loading and compiling.

    `known`: whether collections were recorded at all. `count` and `full` (of the oldest generation): how many began
    there. `pauses`: the union of their times. `idle_ns`: the part of it in which the first device had nothing to do;
    None without device activity.
    """

    known: bool
    count: int
    full: int
    pauses: Intervals
    idle_ns: int | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the collections that capture noted."""
        garbage, steps = trace.context.garbage, results.get(StepTime)
        if garbage is None:
            return cls(False, 0, 0, intervals.EMPTY, None)
        steady = intervals.union(intervals.of(trace.steps.take(steps.steady)))
        within = steady if steps.count else intervals.single(trace.span_start_ns, trace.span_end_ns)
        starts, lengths = np.array(garbage.start_ns, np.int64), np.array(garbage.duration_ns, np.int64)
        inside = intervals.contains(within, starts)
        pauses = intervals.intersect(intervals.union(Intervals(starts, starts + lengths)), within)
        device = results.get(DeviceActivity).primary
        return cls(
            known=True,
            count=int(inside.sum()),
            full=int((np.array(garbage.generation, np.int64)[inside] == _FULL).sum()),
            pauses=pauses,
            idle_ns=None if device is None else intervals.subtract(pauses, device.busy).total_ns,
        )
