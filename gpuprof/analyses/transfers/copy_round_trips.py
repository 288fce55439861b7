"""Tensors that leave the device and come back in the same step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# smaller ones are numbers that happen to have the same size
LEAST_BYTES = 64 << 10
_HABIT = 0.8


@dataclass(frozen=True, eq=False)
class CopyRoundTrips(Result):
    """A copy from the device that the host waits for, and the next copy of exactly as many bytes to the same device.

    Both lie in one step or iteration (see Repeats), the second begins after the first ended, and no batch is loaded
    between. Steps that begin at an optimizer's step are not looked at: there the end of one iteration and the
    next batch share a step.

    `out` and `back`: rows of `Copies.table`, int64 of shape `(trips,)`. `steps_with`: those that have one, of `steps`.
    `cost`: from the begin of the first copy to the end of the second, as far as the device computes nothing; a union.
    """

    out: Array
    back: Array
    steps: int
    steps_with: int
    cost: Intervals

    @property
    def habit(self) -> bool:
        """Whether nearly all steps have one."""
        return self.steps_with >= max(_HABIT * self.steps, 1)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the copies in order of time."""
        copies, device = results.get(Copies).table, results.get(DeviceActivity).primary
        repeats = results.get(Repeats)
        step = repeats.number(trace, copies)
        if device is None or trace.steps_from == "Optimizer":
            nothing = np.empty(0, np.int64)
            return cls(nothing, nothing, repeats.count, 0, intervals.EMPTY)
        ends = copies["start_ns"] + copies["duration_ns"]
        large = (copies["bytes"] >= LEAST_BYTES) & (step >= 0)
        waited = np.isin(copies["call"], results.get(CopyWaits).copy_call) & (copies["call"] >= 0)
        leaving = np.flatnonzero(large & waited & (copies["direction"] == CopyKind.D2H))
        coming = np.flatnonzero(large & (copies["direction"] == CopyKind.H2D))
        candidates: dict[tuple[int, ...], list[int]] = {}
        for key, row in zip(_alike(copies, step, coming), coming.tolist(), strict=True):
            candidates.setdefault(key, []).append(row)
        pairs = []
        for key, row in zip(_alike(copies, step, leaving), leaving.tolist(), strict=True):
            rows = candidates.get(key, [])
            while rows and copies["start_ns"][rows[0]] < ends[row]:
                rows.pop(0)
            if rows and not _loads(results, ends[row], copies["start_ns"][rows[0]]):
                pairs.append((row, rows.pop(0)))
        out, back = (np.array(rows, np.int64) for rows in (zip(*pairs, strict=True) if pairs else ((), ())))
        whole = intervals.union(Intervals(copies["start_ns"][out], ends[back]))
        return cls(out, back, repeats.count, len(np.unique(step[out])), intervals.subtract(whole, device.compute))


def _alike(copies: Table, step: Array, rows: Array) -> list[tuple[int, ...]]:
    """Step, bytes and device of each: what both copies of a trip have in common."""
    columns = (each[rows].tolist() for each in (step, copies["bytes"], copies["device"]))
    return list(zip(*columns, strict=True))


def _loads(results: Results, start_ns: int, end_ns: int) -> bool:
    loading = results.get(Phases).input
    return intervals.clip(loading, int(start_ns), int(end_ns)).total_ns > 0
