"""How long operators of a close look take where nothing holds them up."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# times as long as others of the same line, name and sizes: then something else had the core, or it was the first
_HELD_UP = 3


def usual_durations(trace: Trace) -> Array:
    """ns of each looked operator; of one that took far longer than others of its line, name and sizes, the most that
    such ones take. One of the two that are alike in all may be held up: the lower median of them counts."""
    operators = trace.looked_operators
    spent = operators["duration_ns"]
    if not len(operators):
        return spent
    group = operators["name"].astype(np.int64)
    for each in (operators["place"], *(_first_shape(side, len(operators)) for side in _sides(trace))):
        _, group = np.unique(group * (int(each.max()) + 2) + each + 1, return_inverse=True)
    order = np.lexsort((spent, group))
    sizes = np.bincount(group)
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    median = spent[order][begins + (sizes - 1) // 2]
    most = np.where(sizes > 1, _HELD_UP * median, np.iinfo(np.int64).max)
    usual: Array = np.minimum(spent, most[group])
    return usual


def _sides(trace: Trace) -> tuple[Table, Table]:
    return trace.looked_reads, trace.looked_results


def _first_shape(side: Table, operators: int) -> Array:
    """Of each operator's first tensor there: its number, -1 where it has none."""
    found = np.full(operators, -1, np.int64)
    first = (side["position"] == 0) & (side["operator"] >= 0) & (side["operator"] < operators)
    found[side["operator"][first]] = side["shape"][first]
    return found
