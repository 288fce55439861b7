"""Which operator of the forward pass made a node of the autograd graph.

torch gives every operator that may record a graph the number of the *next* node of its thread: one that makes no node,
and one that only calls others, carry the number of a node that another makes. So the maker of a node is the last
operator with its number that begins on that thread. One operator may make several nodes (an in-place change of a slice
makes three); only the first of those numbers stands at an operator. Checked against Kineto's own `fwdbwd` arrows, which
join the first node only: the same operator in all 1,111 joins of three recordings.

Libraries' own functions in C++ (nodes called `CppNode<…>`) have no number where they are called (fbgemm's lookups in a
public trace of a recommender): there the operator with the number ran just before. Their maker is the last of the
libraries' operators without a number up to the next number.
"""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_OF_TORCH = ("aten::", "autograd::")


def makers(trace: Trace) -> Array:
    """The operator that made each node, row of `operators`; int64 of shape `(len(trace.operators),)`.

    -1 for whatever is no node, has no number, or whose maker ran before the recording began.
    """
    operators, nodes = trace.operators, backward_mask(trace)
    found = np.full(len(operators), -1, np.int64)
    numbered = operators["sequence"] >= 0
    by_thread = _by_thread(operators, np.flatnonzero(numbered & ~nodes))
    rows = np.flatnonzero(numbered & nodes)
    for number in np.unique(operators["forward_thread"][rows]):
        mine = rows[operators["forward_thread"][rows] == number]
        candidates = [(_joined(operators, forward, mine), thread) for thread, forward in by_thread.items()]
        # torch numbers threads in its own way: the thread that explains most of the nodes made them
        found[mine] = max(
            candidates,
            key=lambda each: (_exact(operators, each[0], mine), each[1] == trace.main_thread),
            default=(found[mine], -1),
        )[0]
    return _with_custom_functions(trace, rows, found)


def _with_custom_functions(trace: Trace, nodes: Array, found: Array) -> Array:
    operators = trace.operators
    of_library = [name for name in range(len(trace.names)) if "CppNode<" in trace.names[name]]
    custom = nodes[np.isin(operators["name"][nodes], of_library) & (found[nodes] >= 0)]
    if not len(custom):
        return found
    found, starts = found.copy(), operators["start_ns"]
    others = [at for at, name in enumerate(trace.names) if "::" in name and not name.startswith(_OF_TORCH)]
    own = np.isin(operators["name"], others)
    unnumbered = np.flatnonzero(own & (operators["parent"] < 0) & (operators["sequence"] < 0))
    for node in custom.tolist():
        before = found[node]
        thread, number = operators["thread"][before], operators["sequence"][node]
        later = (operators["thread"] == thread) & (operators["sequence"] > number) & (starts > starts[before])
        until = starts[later].min(initial=starts[node])
        called = unnumbered[operators["thread"][unnumbered] == thread]
        called = called[(starts[called] > starts[before]) & (starts[called] < until)]
        if len(called):
            found[node] = called[-1]
    return found


def at_top(trace: Trace, rows: Array) -> Array:
    """The operator at the top of the stack of each of these rows of operators."""
    parents = trace.operators["parent"]
    while len(inner := np.flatnonzero(parents[rows] >= 0)):
        rows = rows.copy()
        rows[inner] = parents[rows[inner]]
    return rows


def _by_thread(operators: Table, rows: Array) -> dict[int, Array]:
    threads = operators["thread"][rows]
    return {int(thread): rows[threads == thread] for thread in np.unique(threads)}


def _joined(operators: Table, forward: Array, nodes: Array) -> Array:
    """For each node the last operator of `forward` (one thread's, by begin) with its number or the next lower one."""
    # the numbers of a thread only grow; an odd file must not break the search
    numbers = np.maximum.accumulate(operators["sequence"][forward])
    place = np.searchsorted(numbers, operators["sequence"][nodes], side="right") - 1
    row = np.where(place >= 0, forward[np.maximum(place, 0)], -1)
    begun = (row >= 0) & (operators["start_ns"][row] <= operators["start_ns"][nodes])
    return np.where(begun, row, -1)


def _exact(operators: Table, makers_of: Array, nodes: Array) -> int:
    """How many of these joins have the same number on both sides."""
    same = operators["sequence"][makers_of] == operators["sequence"][nodes]
    return int((same & (makers_of >= 0)).sum())
