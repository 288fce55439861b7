"""The operators of the main thread, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.host_marks import main_operators
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class MainOperators(Result):
    """`each`: when every operator of the main thread ran, inner ones as well, in the order of the recording. `inside`:
    the union of the outermost ones."""

    each: Intervals
    inside: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators."""
        rows = np.flatnonzero(trace.operators["thread"] == trace.main_thread)
        return cls(intervals.of(trace.operators.take(rows)), main_operators(trace))
