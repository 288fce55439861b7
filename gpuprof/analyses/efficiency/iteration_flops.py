"""Floating-point operations of one step, or of one iteration of a run without steps."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.counted_operators import CountedOperators
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


def iteration_flops(trace: Trace, results: Results, counted: CountedOperators, chosen: Array) -> float | None:
    """Mean over the steps, else over the iterations, that have any of the chosen operators (indices into `counted`).

    None where neither is known. A step that the recording cut off counts as it is.
    """
    flops = np.array([shape.flops for shape in counted.shapes], np.float64)[counted.shape[chosen]]
    rows = counted.row[chosen]
    if len(trace.steps):
        number = trace.operators["step"][rows].astype(np.int64)
    else:
        run = results.get(Iterations).main
        if run is None:
            return None
        starts = trace.operators["start_ns"][rows]
        number = np.searchsorted(run.starts_ns, starts, side="right") - 1
        number[(number >= 0) & (starts >= run.ends_ns[np.maximum(number, 0)])] = -1
    inside = number >= 0
    return float(flops[inside].sum() / len(np.unique(number[inside]))) if inside.any() else None
