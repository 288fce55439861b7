"""Launches in which the host waits until the kernel has ended, as `CUDA_LAUNCH_BLOCKING=1` makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.trace import Trace

_ENOUGH = 40
_NEARLY_ALL = 0.9


@dataclass(frozen=True, eq=False)
class BlockingLaunches(Result):
    """Over the kernel launches that are linked to a kernel.

    `launches`: how many; `blocking_share`: of them those that returned only after their kernel had ended, 0..1, None
    without launches. An ordinary launch returns some µs after it began, before or while its kernel runs. `waits`: the
    times of the blocking launches on the host, in order of start.
    """

    launches: int
    blocking_share: float | None
    waits: Intervals

    @property
    def mostly(self) -> bool:
        """Whether nearly all launches block, and there are enough of them to say so. Recorded runs show 0.2 %."""
        return self.launches >= _ENOUGH and (self.blocking_share or 0.0) >= _NEARLY_ALL

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the launches and their kernels."""
        calls, events = trace.calls, trace.device_events
        kernels = np.flatnonzero((events["kind"] == DeviceEventKind.KERNEL) & (events["call"] >= 0))
        kernels = kernels[calls["kind"][events["call"][kernels]] == CallKind.KERNEL]
        call = events["call"][kernels]
        begins = calls["start_ns"][call]
        returns = begins + calls["duration_ns"][call]
        blocking = returns >= events["start_ns"][kernels] + events["duration_ns"][kernels]
        order = np.argsort(begins[blocking], kind="stable")
        return cls(
            launches=len(kernels),
            blocking_share=float(blocking.mean()) if len(kernels) else None,
            waits=Intervals(begins[blocking][order], returns[blocking][order]),
        )
