"""Whether the memory that stays from step to step grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.memory import StepMemory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

FROM_READINGS = "allocated bytes after optimizer steps of the whole cell"
FROM_ROWS = "the least that was allocated in each recorded step"
_WARM_UP = 2
_LONG = 12


@dataclass(frozen=True)
class MemoryGrowth(Result):
    """One level of memory a step, on the device with the highest peak, else on the host (`device` None).

    Warm-up is left out: the first two steps, and in longer runs their whole first half, in which caches and states
    fill up. `levels` is how many are left; what follows is None with fewer than two. `per_step_bytes`: median growth a
    step, from one turn of the loop to the next (of several optimizers each makes a step in a turn); `grown_bytes`: from
    the first to the last level; `rising_share` (0..1) of the differences that are above 0. `from_ns` to `to_ns`: the
    time that they span. `free_bytes` is the limit less the peak; on the host what was available when the run began.
    """

    device: int | None
    source: str | None
    levels: int
    per_step_bytes: float | None
    grown_bytes: int | None
    rising_share: float | None
    from_ns: int | None
    to_ns: int | None
    free_bytes: int | None

    @property
    def steps_until_full(self) -> int | None:
        """How many more steps of this growth there is room for; None where it does not grow, or unknown."""
        if self.free_bytes is None or self.per_step_bytes is None or self.per_step_bytes <= 0:
            return None
        return int(self.free_bytes / self.per_step_bytes)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From readings after optimizer steps, else from the allocator's rows."""
        peak = results.get(MemoryPeak)
        use = peak.primary or peak.host
        readings = next((each for each in trace.context.step_memory if use and each.device == use.device), None)
        step, time, level, source = _levels(trace, use, readings)
        # the analysis of the peak has left out the first step
        warm_up = _WARM_UP - 1 if source == FROM_ROWS else _WARM_UP
        skip = len(level) // 2 if len(level) >= _LONG else warm_up
        step, time, level = step[skip:], time[skip:], level[skip:]
        device = use.device if use else None
        if len(level) < 2:
            return cls(device, source, len(level), None, None, None, None, None, None)
        turn = _steps_of_a_turn(trace, len(level))
        each = (level[turn:] - level[:-turn]) / np.maximum(step[turn:] - step[:-turn], 1)
        return cls(
            device=device,
            source=source,
            levels=len(level),
            per_step_bytes=float(np.median(each)),
            grown_bytes=int(level[-1] - level[0]),
            rising_share=float((each > 0).mean()),
            from_ns=int(time[0]),
            to_ns=int(time[-1]),
            free_bytes=_free(trace, use),
        )


def _levels(trace: Trace, use: MemoryUse | None, readings: StepMemory | None) -> tuple[Array, Array, Array, str | None]:
    """Step number, time and bytes of each level."""
    if readings is not None and len(readings.step) > _WARM_UP + 1:
        columns = (readings.step, readings.time_ns, readings.allocated_bytes)
        step, time, level = (np.array(column, np.int64) for column in columns)
        return step, time, level, FROM_READINGS
    if use is None or not use.lowest_by_step_bytes:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty, None
    level = np.array(use.lowest_by_step_bytes, np.int64)
    return np.arange(len(level)), np.sort(trace.steps["start_ns"])[-len(level) :], level, FROM_ROWS


def _steps_of_a_turn(trace: Trace, levels: int) -> int:
    """As many as there are optimizers that step equally often; 1 where that is unknown or too few levels are left."""
    counts = [optimizer.steps for optimizer in trace.context.optimizers if optimizer.steps > 1]
    alike = len(counts) > 1 and max(counts) - min(counts) <= 1
    return len(counts) if alike and levels > 2 * len(counts) else 1


def _free(trace: Trace, use: MemoryUse | None) -> int | None:
    if use is None:
        return None
    if use.device is None:
        available = trace.context.host_start.get("available_bytes")
        return int(available) if isinstance(available, int) else None
    if use.limit_bytes is None or use.whole_peak_bytes is None:
        return None
    return max(use.limit_bytes - use.whole_peak_bytes, 0)
