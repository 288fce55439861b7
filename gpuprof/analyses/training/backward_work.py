"""What `backward()` does for a part of the forward pass."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# What `backward()` makes of a loss without a gradient; then autograd counts the nodes of the whole graph.
_BEGINS = "aten::ones_like"


def backward_of(trace: Trace, forward: Intervals) -> Intervals:
    """Union of host time, on any thread, in which autograd runs what the operators begun in `forward` left it.

    Each node is joined to the operator of the main thread that made it (see `makers`); what sums up gradients for a
    parameter has none. The time from one such node to the next belongs to it, and so does its share of the walk over
    the graph before the first.
    """
    operators, nodes = trace.operators, backward_mask(trace)
    maker = makers(trace)
    rows = np.flatnonzero(maker >= 0)
    rows = rows[operators["thread"][maker[rows]] == trace.main_thread]
    chosen = np.zeros(len(operators), bool)
    chosen[rows] = intervals.contains(forward, operators["start_ns"][maker[rows]])
    own = intervals.of(operators.take(chosen))
    between, before = _around(trace, nodes, chosen)
    return intervals.joined(own, between, before)


def _around(trace: Trace, nodes: Array, chosen: Array) -> tuple[Intervals, Intervals]:
    """The time between chosen neighbours, and their share of the walk before each pass of neighbouring nodes."""
    operators = trace.operators
    parents = operators["parent"]
    within = picked(nodes, parents) > 0
    rows = np.flatnonzero(nodes | (parents < 0))
    rows = rows[~within[rows]]
    rows = rows[np.lexsort((operators["start_ns"][rows], operators["thread"][rows]))]
    node, mine, starts = nodes[rows], chosen[rows], operators["start_ns"][rows]
    ends = starts + operators["duration_ns"][rows]
    near = np.append(False, (np.diff(operators["thread"][rows]) == 0) & (np.diff(operators["step"][rows]) == 0))
    near = near[: len(rows)]  # each to the one before
    both = np.flatnonzero(near & mine & np.roll(mine, 1))
    between = Intervals(ends[both - 1], starts[both])
    first = np.flatnonzero(node & ~(near & np.roll(node, 1)))
    if not len(first):
        return between, intervals.EMPTY
    share = np.add.reduceat(mine.astype(float), first) / np.add.reduceat(node.astype(float), first)
    walked = near[first] & (np.roll(trace.names_of(operators.take(rows)), 1)[first] == _BEGINS)
    first, share = first[walked], share[walked]
    lengths = np.maximum(starts[first] - ends[first - 1], 0)
    return between, Intervals(starts[first] - np.rint(lengths * share).astype(np.int64), starts[first])
