"""Optimizer steps and `zero_grad` that take less."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.training.gradient_zeroing import GradientZeroing
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import host_time_scaled, operations_scaled


def optimizer_steps_taking(results: Results, steps: Intervals, left: float) -> GraphEdit:
    """What the main thread does in the union `steps` (ns of the trace), and the kernels that it launches there, in
    `left` (0..1) of their time: formula 6 of docs/design/whatif.md gives what a fused step takes."""
    events, calls, main = results.trace.device_events, results.trace.calls, results.trace.main_thread
    launched = np.flatnonzero((events["call"] >= 0) & (events["kind"] == DeviceEventKind.KERNEL))
    calls = calls.take(events["call"][launched])
    mine = intervals.contains(steps, calls["start_ns"]) & (calls["thread"] == main)
    return together(host_time_scaled(steps, left), operations_scaled(launched[mine], left))


def zeroing_dropped(results: Results, zeroing: Intervals, adding: Intervals, left: float) -> GraphEdit:
    """The zeroing of gradients, and the avoidable part of the additions to them, in `left` (0..1) of their time.

    `zeroing`, `adding`: unions of the host's time, ns of the trace; the kernels are those of GradientZeroing. Additions
    take `1 − avoidable share · (1 − left)` of their time.
    """
    found, kernels = results.get(GradientZeroing), results.get(KernelOrigins)
    added = 1 - found.avoidable_share * (1 - left)
    return together(
        host_time_scaled(zeroing, left),
        host_time_scaled(adding, added),
        operations_scaled(kernels.event[found.zeroing], left),
        operations_scaled(kernels.event[found.adding], added),
    )
