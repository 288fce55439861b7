"""Backward passes that make fewer or smaller gradients."""

from __future__ import annotations

from gpuprof.analyses.basics.launched import launched_in
from gpuprof.analyses.basics.result import Results
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import host_time_scaled, operations_gone, operations_scaled, unchanged
from gpuprof.whatif.predict import Range


def backward_ended(results: Results, beyond: Intervals) -> Range:
    """Without the host's time in the union `beyond` (ns of the trace), and without what is launched in it; at worst
    nothing goes, since the weights that are trained may be the last that backward reaches."""
    gone = together(host_time_scaled(beyond, 0.0), operations_gone(launched_in(results.trace, beyond)))
    return Range(unchanged, gone, gone)


def gradients_sparse(filling: Array, filled: float, updating: Array, updated: float) -> GraphEdit:
    """The kernels that fill gradients of embedding tables (rows of `device_events`) in `filled` times their time, those
    that update the tables in `updated` times theirs."""
    return together(operations_scaled(filling, filled), operations_scaled(updating, updated))
