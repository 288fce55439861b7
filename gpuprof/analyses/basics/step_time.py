"""How long the steps took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_WARM_UP_FACTOR = 2


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

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the steps table."""
        durations = trace.steps["duration_ns"]
        steady = _steady(durations)
        chosen = durations[steady]
        return cls(
            durations_ns=durations,
            steady=steady,
            median_ns=int(np.median(chosen)) if len(chosen) else None,
            p95_ns=int(np.percentile(chosen, 95)) if len(chosen) else None,
            steps_from=trace.steps_from,
            window=intervals.union(intervals.of(trace.steps)),
        )


def _steady(durations: Array) -> Array:
    if not len(durations):
        return np.zeros(0, bool)
    ordinary = durations <= _WARM_UP_FACTOR * np.median(durations)
    return np.arange(len(durations)) >= int(np.argmax(ordinary))
