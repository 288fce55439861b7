"""The operators that the code of the cell calls itself, in order: what loops written in Python are made of."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.model import intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


def loop_operators(trace: Trace, phases: Phases) -> tuple[Array, Array]:
    """Rows of the top-level operators of the main thread in order, and for each the number of its section.

    Without those of the DataLoader, the optimizer and autograd: each of them, and each step, ends a section.
    """
    operators = trace.operators
    rows = np.flatnonzero((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    starts = operators["start_ns"][rows]
    covered = intervals.joined(phases.input, phases.optimizer, phases.backward)
    outside = ~intervals.contains(covered, starts)
    section = np.searchsorted(covered.starts, starts, side="right").astype(np.int64)
    rows, section = rows[outside], section[outside]
    return rows, section * (len(trace.steps) + 1) + operators["step"][rows] + 1
