"""How long the steps took."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array


@dataclass(frozen=True, eq=False)
class StepTime(Result):
    """Durations of the steps, on the host's clock.

    `durations_ns`: int64 of shape `(count,)`. `steady`: bool of the same shape; it leaves out warm-up, the steps at
    the beginning that took more than twice the median of all. `median_ns` and `p95_ns` are of the steady steps, None
    where there is no step. `window`: the union of the steps. `steps_from`: what they were found from (see Trace).
    """

    durations_ns: Array
    steady: Array
    median_ns: int | None
    p95_ns: int | None
    steps_from: str | None
    window: Intervals

    @property
    def count(self) -> int:
        """How many steps were recorded."""
        return len(self.durations_ns)
