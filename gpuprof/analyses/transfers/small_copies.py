"""Small copies to the device, of which a step makes many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import outermost
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# PCIe 4.0 × 16 moves 64 KiB in 3 µs: up to there a copy is all launch
SMALL_BYTES = 64 << 10
MANY_PER_STEP = 16


@dataclass(frozen=True, eq=False)
class SmallCopies(Result):
    """Copies to the device of less than SMALL_BYTES, issued in the steps or iterations (see Repeats); nothing without.

    `chosen`: mask over `Copies.table`. `count`, `bytes`: of these. `per_step`: mean over these, None without.
    `host`: the union of the host's time in the outermost operators around them (in the copying calls where
    there is none); `idle`: the part of it in which the first device had nothing to do. Both within them.
    """

    chosen: Array
    count: int
    bytes: int
    per_step: float | None
    host: Intervals
    idle: Intervals

    @property
    def many(self) -> bool:
        """Whether a step makes so many that their number is what costs."""
        return self.per_step is not None and self.per_step >= MANY_PER_STEP

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the copies and the operators around their calls."""
        copies, repeats = results.get(Copies).table, results.get(Repeats)
        small = (copies["bytes"] >= 0) & (copies["bytes"] < SMALL_BYTES)
        chosen = small & (copies["direction"] == CopyKind.H2D) & (repeats.number(trace, copies) >= 0)
        device = results.get(DeviceActivity).primary
        host = intervals.intersect(
            time_around(trace, np.unique(copies["call"][chosen & (copies["call"] >= 0)])), repeats.within
        )
        return cls(
            chosen=chosen,
            count=int(chosen.sum()),
            bytes=int(copies["bytes"][chosen].sum()),
            per_step=float(chosen.sum()) / repeats.count if repeats.count else None,
            host=host,
            idle=host if device is None else intervals.subtract(host, device.busy),
        )


def time_around(trace: Trace, calls: Array) -> Intervals:
    """The host's time in the outermost operators around these rows of calls, or in the calls where there is none."""
    around = outermost(trace, trace.calls["operator"][calls])
    operators, bare = trace.operators.take(np.unique(around[around >= 0])), trace.calls.take(calls[around < 0])
    starts = np.concatenate((operators["start_ns"], bare["start_ns"]))
    lengths = np.concatenate((operators["duration_ns"], bare["duration_ns"]))
    return intervals.union(Intervals(starts, starts + lengths))
