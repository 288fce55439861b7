"""Values read into Python, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_READ = "aten::_local_scalar_dense"
_AROUND = ("aten::item", "aten::is_nonzero")


@dataclass(frozen=True, eq=False)
class ScalarReads(Result):
    """Reads of one value to Python (`.item()`, `float(t)`, `if t:`) on the main thread, in order of start.

    A read is the outermost of `is_nonzero`, `item`, `_local_scalar_dense`. Left out are those that the user did not
    write: inside the DataLoader, an optimizer's own step, or another operator (`x - m` reads an `m` of one value
    on the CPU). Arrays have shape `(count,)`.
    `per_step` is the mean over the steps, `steps_with` how many steps have one; None without steps.
    """

    start_ns: Array
    duration_ns: Array
    step: Array
    per_step: float | None
    steps_with: int | None

    @property
    def count(self) -> int:
        """How many."""
        return len(self.start_ns)

    @property
    def total_ns(self) -> int:
        """Host time in them, waiting included."""
        return int(self.duration_ns.sum())

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators of those names."""
        operators, phases, steps = trace.operators, results.get(Phases), len(trace.steps)
        rows = _outermost(trace)
        starts = operators["start_ns"][rows]
        hidden = intervals.contains(phases.input, starts) | intervals.contains(phases.optimizer, starts)
        rows = rows[~hidden & (operators["thread"][rows] == trace.main_thread)]
        rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
        step = operators["step"][rows]
        return cls(
            start_ns=operators["start_ns"][rows],
            duration_ns=operators["duration_ns"][rows],
            step=step,
            per_step=float((step >= 0).sum() / steps) if steps else None,
            steps_with=len(np.unique(step[step >= 0])) if steps else None,
        )


def _outermost(trace: Trace) -> Array:
    operators = trace.operators
    rows = np.flatnonzero(trace.name_mask(operators, _READ))
    around = trace.name_mask(operators, *_AROUND)
    for _ in _AROUND:
        parents = operators["parent"][rows]
        climbs = (parents >= 0) & around[np.maximum(parents, 0)] if len(operators) else np.zeros(0, bool)
        rows = np.where(climbs, parents, rows)
    parents = operators["parent"][rows]
    within = trace.name_mask(operators, "aten::")
    inner = (parents >= 0) & within[np.maximum(parents, 0)] if len(operators) else np.zeros(0, bool)
    return np.unique(rows[~inner])
