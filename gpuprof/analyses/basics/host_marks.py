"""Where the host stands in the run: outside the steps, in which operators, and which threads drive the device."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_WRAPPERS = ("autograd::engine::", "torch::autograd::")


def outside_steps(trace: Trace) -> Intervals:
    """The part of the span outside every step; nothing where no steps are known. A union."""
    if not len(trace.steps):
        return intervals.EMPTY
    return intervals.complement(intervals.union(intervals.of(trace.steps)), trace.span_start_ns, trace.span_end_ns)


def main_operators(trace: Trace) -> Intervals:
    """Where the main thread is inside an operator, as a union."""
    top = (trace.operators["thread"] == trace.main_thread) & (trace.operators["parent"] < 0)
    return intervals.union(intervals.of(trace.operators.take(top)))


def autograd_threads(trace: Trace) -> Intervals:
    """Where autograd's own threads run the backward pass, for which the main thread waits; a union."""
    elsewhere = backward_mask(trace) & (trace.operators["thread"] != trace.main_thread)
    return intervals.union(intervals.of(trace.operators.take(elsewhere)))


def named(trace: Trace, table: Table, part: str) -> Array:
    """Boolean mask of shape `(len(table),)`: rows whose name contains `part`."""
    hit = np.fromiter((part in name for name in trace.names), bool, len(trace.names))
    return hit[table["name"]] if len(table) else np.zeros(0, bool)


def launching(calls: Table) -> Array:
    """Boolean mask of shape `(len(calls),)`: launches."""
    mask: Array = (calls["kind"] >= CallKind.KERNEL) & (calls["kind"] <= CallKind.GRAPH)
    return mask


def driving_threads(trace: Trace) -> Array:
    """Rows of the threads that launch work, and the main thread: a watchdog that polls the device is not among them."""
    threads = np.unique(trace.calls["thread"][launching(trace.calls)])
    return np.union1d(threads, [trace.main_thread])


def picked(values: Array, rows: Array) -> Array:
    """`values` at `rows`; -1 where the row is -1."""
    return np.where(rows >= 0, values[np.maximum(rows, 0)], -1) if len(values) else np.full(len(rows), -1)


def caller_of(trace: Trace, rows: Array) -> Array:
    """The operator or range right around each row of operators, autograd's wrappers looked through; -1 without."""
    wrapper = trace.name_mask(trace.operators, *_WRAPPERS)
    here = picked(trace.operators["parent"], rows)
    while (inside := (here >= 0) & picked(wrapper, here).astype(bool)).any():
        here = np.where(inside, picked(trace.operators["parent"], here), here)
    return here


def outermost(trace: Trace, rows: Array) -> Array:
    """The outermost operator of a library (`aten::…`) around each row of operators, else the outermost of all.

    Older traces list a user's own ranges as operators: those carry no `::`. Autograd's wrappers are looked through.
    """
    wrapper = trace.name_mask(trace.operators, *_WRAPPERS)
    library = named(trace, trace.operators, "::") & ~wrapper
    best, last, here = np.full(len(rows), -1), rows, rows
    while (here >= 0).any():
        best = np.where((here >= 0) & picked(library, here).astype(bool), here, best)
        last = np.where(here >= 0, here, last)
        here = np.where(here >= 0, picked(trace.operators["parent"], here), -1)
    return np.where(best >= 0, best, last)
