"""What a run does again and again: its steps, else the iterations of its outermost loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.iteration_run import IterationRun
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# of the iterations go backward: then each is a step of training, only without an optimizer or loader that shows it
_TRAINS = 0.5


@dataclass(frozen=True, eq=False)
class Repeats(Result):
    """`count` steps or iterations, none where neither is known; `within`: their union; `steady`: bool of shape
    `(count,)`, without warm-up for steps. `noun`: `step`, or `iteration` where they are no steps of training.
    `iterations`: they are these; None for steps.
    """

    count: int
    within: Intervals
    steady: Array
    noun: str
    iterations: IterationRun | None

    @property
    def each(self) -> str:
        """`a step` or `an iteration`."""
        return "a step" if self.noun == "step" else f"an {self.noun}"

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the steps, else from `Iterations.main`."""
        steps, main = results.get(StepTime), results.get(Iterations).main
        if steps.count or main is None:
            return cls(steps.count, steps.window, steps.steady, "step", None)
        within = intervals.union(Intervals(main.starts_ns, main.ends_ns))
        backward = trace.operators["start_ns"][backward_mask(trace)]
        trained = len(set(_numbers(main, backward).tolist()) - {-1})
        noun = "step" if trained >= _TRAINS * main.count else "iteration"
        return cls(main.count, within, np.ones(main.count, bool), noun, main)

    def number(self, trace: Trace, table: Table) -> Array:
        """For each row of a table with a `step` the place of its step or iteration, -1 for none; what a call issued
        belongs where the call is."""
        if self.iterations is None:
            return table["step"].astype(np.int64)
        times, names = table["start_ns"].copy(), [column.name for column in table.schema.columns]
        if "call" in names:
            issued = np.flatnonzero(table["call"] >= 0)
            times[issued] = trace.calls["start_ns"][table["call"][issued]]
        return _numbers(self.iterations, times)


def _numbers(run: IterationRun, times: Array) -> Array:
    place = np.searchsorted(run.starts_ns, times, side="right") - 1
    return np.where((place >= 0) & (times < run.ends_ns[np.maximum(place, 0)]), place, -1).astype(np.int64)
