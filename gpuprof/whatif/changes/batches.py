"""Batches that nobody waits for, or that worker processes make ahead."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.intervals import Intervals
from gpuprof.whatif.changes.batch_waits import PREFETCH_FACTOR
from gpuprof.whatif.changes.trace_changes import batches_from_workers, host_time_scaled, unchanged
from gpuprof.whatif.predict import Range

# Loops that were bound by the CPU gained as little as a third of this on shared cores (docs/design/whatif.md).
_LEAST_GAINED = 1 / 3


def batches_planned(plan: WorkerPlan, waits: Intervals) -> Range | None:
    """The waits for batches (ns of the trace, by start) that the plan's workers leave; None where it suggests none.

    Formula 1 of docs/design/whatif.md, with batches that a worker makes in `load_ns`, or in the time of each wait where
    the waiting thread made them itself; at worst a third of what that gains. It depends on how fast other changes make
    the loop, and comes last.
    """
    if plan.suggested is None or plan.load_ns is None:
        return None
    waited = np.maximum(waits.ends - waits.starts, 1)
    load = waited * plan.slowdown if plan.workers == 0 else np.full(len(waited), plan.load_ns)
    prefetch = (plan.loader and plan.loader.prefetch_factor) or PREFETCH_FACTOR
    full = batches_from_workers(waits, load, plan.suggested, prefetch)
    least = batches_from_workers(waits, load, plan.suggested, prefetch, gained=_LEAST_GAINED)
    return Range(least, full, full, last=True)


def batches_at_once(waits: Intervals) -> Range:
    """Without these waits (ns of the trace); at worst with all of them."""
    gone = host_time_scaled(waits, 0.0)
    return Range(unchanged, gone, gone)
