"""Tables of the close look found in the recording, which has no sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_tables import LookedTable, LookedTables
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the recorded gradients: with fewer the steps are not those of the look
_MATCHED = 0.5


class RecordedTable(NamedTuple):
    """A table of the look with its rows of `operators`: `backwards` make its gradient, `updates` are in optimizer steps
    and take `parts` of their elements of it."""

    table: LookedTable
    backwards: Array
    updates: Array
    parts: Array


def recorded_tables(trace: Trace, results: Results, nodes: frozenset[str]) -> tuple[RecordedTable, ...]:
    """Those whose gradients are made by nodes of these names. They are told by their order in a step, which is that of
    an iteration of the look; empty where recorded steps have another number of them."""
    looked = results.get(LookedTables)
    order = [each for each in looked.order if each.node in nodes]
    if not order:
        return ()
    operators = trace.operators
    rows = np.flatnonzero(_named(trace, nodes & {each.node for each in order}))
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    step = results.get(Repeats).number(trace, operators.take(rows))
    counts = np.bincount(step[step >= 0], minlength=1)
    fits = (step >= 0) & (counts[np.maximum(step, 0)] == len(order))
    if not len(rows) or fits.mean() < _MATCHED:
        return ()
    chosen = rows[fits][np.argsort(step[fits], kind="stable")].reshape(-1, len(order))
    if any((trace.names_of(operators.take(chosen[:, at])) != each.node).any() for at, each in enumerate(order)):
        return ()
    found = []
    for table in looked.tables:
        at = [place for place, each in enumerate(order) if table.makes(each)]
        if at:
            found.append(RecordedTable(table, np.sort(chosen[:, at].reshape(-1)), *_updates(trace, results, table)))
    return tuple(found)


def _updates(trace: Trace, results: Results, table: LookedTable) -> tuple[Array, Array]:
    """The outermost operators of these names in steps of these optimizers, and the table's part of each."""
    operators = trace.operators
    uses = [each for each in results.get(OptimizerSteps).uses if each.name in table.optimizers]
    ranges = [Intervals(each.start_ns, each.start_ns + each.duration_ns) for each in uses]
    both = [np.concatenate([getattr(each, side) for each in ranges]) for side in ("starts", "ends")] if ranges else []
    within = intervals.union(Intervals(*both)) if both else intervals.EMPTY
    top = (operators["thread"] == trace.main_thread) & (operators["parent"] < 0)
    top &= _named(trace, frozenset(table.parts)) & intervals.contains(within, operators["start_ns"])
    rows = np.flatnonzero(top)
    return rows, np.array([table.parts[name] for name in trace.names_of(operators.take(rows)).tolist()], float)


def _named(trace: Trace, names: frozenset[str]) -> Array:
    hit = np.fromiter((name in names for name in trace.names), bool, len(trace.names))
    return hit[trace.operators["name"]] if len(trace.operators) else np.zeros(0, bool)
