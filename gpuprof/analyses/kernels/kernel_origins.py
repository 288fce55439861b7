"""Which host work each kernel of the first device stems from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.phases import Phases, backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import category_of
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class KernelPhase(IntEnum):
    """The phase that launched a kernel. UNKNOWN where it has neither a launch nor an operator."""

    UNKNOWN = 0
    FORWARD = 1
    BACKWARD = 2
    OPTIMIZER = 3


@dataclass(frozen=True, eq=False)
class KernelOrigins(Result):
    """The kernels of the first device that are not collectives, in order of start; arrays of shape `(count,)`.

    `event`: row of `device_events`. `name`: index of `Trace.names`. `category`: KernelCategory. `operator`: row of the
    innermost operator, `root` of the outermost one around it, -1 where unknown. `phase`: KernelPhase. `in_gradient`:
    launched while autograd added a gradient to the one that was there (AccumulateGrad). `issued_on`, `issued_ns`: the
    thread (row of `threads`) and the start of `operator`; -1 where that is unknown.
    """

    event: Array
    name: Array
    start_ns: Array
    duration_ns: Array
    stream: Array
    category: Array
    operator: Array
    root: Array
    phase: Array
    in_gradient: Array
    issued_on: Array
    issued_ns: Array

    @property
    def count(self) -> int:
        """How many kernels."""
        return len(self.event)

    def union(self, chosen: Array) -> Intervals:
        """When any of the chosen ones (boolean mask of shape `(count,)`) ran."""
        starts = self.start_ns[chosen]
        return intervals.union(Intervals(starts, starts + self.duration_ns[chosen]))

    def named(self, trace: Trace, wanted: Callable[[str], bool]) -> Array:
        """Boolean mask of shape `(count,)`: kernels whose name is wanted; each name is asked for once."""
        names, place = np.unique(self.name, return_inverse=True)
        hits = np.fromiter((wanted(trace.names[name]) for name in names), bool, len(names))
        return hits[place] if len(names) else np.zeros(0, bool)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the links of device events to launches and operators."""
        device, events = results.get(DeviceActivity).primary, trace.device_events
        kernel = (events["kind"] == DeviceEventKind.KERNEL) & ~events["collective"]
        rows = np.flatnonzero(kernel & (events["device"] == (device.id if device else -1)))
        rows = rows[np.argsort(events["start_ns"][rows], kind="stable")]
        operator = events["operator"][rows]
        root, backward, gradient = _ancestry(trace, operator)
        call = events["call"][rows]
        launched = call >= 0
        phase = np.where((operator >= 0) | launched, KernelPhase.FORWARD, KernelPhase.UNKNOWN).astype(np.uint8)
        phase[backward] = KernelPhase.BACKWARD
        begun = trace.calls.take(call[launched])
        stepping = intervals.contains(results.get(Phases).optimizer, begun["start_ns"])
        phase[np.flatnonzero(launched)[stepping & (begun["thread"] == trace.main_thread)]] = KernelPhase.OPTIMIZER
        names, place = np.unique(events["name"][rows], return_inverse=True)
        kinds = np.array([category_of(trace.names[name]) for name in names], np.uint8)
        return cls(
            event=rows,
            name=events["name"][rows],
            start_ns=events["start_ns"][rows],
            duration_ns=events["duration_ns"][rows],
            stream=events["stream"][rows],
            category=kinds[place] if len(names) else np.zeros(0, np.uint8),
            operator=operator,
            root=root,
            phase=phase,
            in_gradient=gradient,
            issued_on=picked(trace.operators["thread"], operator),
            issued_ns=picked(trace.operators["start_ns"], operator),
        )


def _ancestry(trace: Trace, operator: Array) -> tuple[Array, Array, Array]:
    """Of each operator (-1: none) the outermost one around it, whether any of them is an autograd node, and whether
    any of them accumulates a gradient."""
    operators = trace.operators
    node = backward_mask(trace)
    accumulating = np.fromiter(("AccumulateGrad" in name for name in trace.names), bool, len(trace.names))
    root, above = operator.copy(), operator.copy()
    backward, gradient = np.zeros(len(operator), bool), np.zeros(len(operator), bool)
    rows = np.flatnonzero(above >= 0)
    while len(rows):
        root[rows] = above[rows]
        backward[rows] |= node[above[rows]]
        gradient[rows] |= accumulating[operators["name"][above[rows]]]
        above[rows] = operators["parent"][above[rows]]
        rows = rows[above[rows] >= 0]
    return root, backward, gradient
