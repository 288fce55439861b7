"""The nodes of the autograd graph among the operators."""

from __future__ import annotations

import re

import numpy as np

from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_BACKWARD = re.compile(r"autograd::engine::evaluate_function: |torch::autograd::\w+$|\w+Backward\d*$")


def backward_mask(trace: Trace) -> Array:
    """Boolean mask of shape `(len(trace.operators),)`: nodes of the autograd graph, as the engine runs them.

    Names as torch gives them: `autograd::engine::evaluate_function: …` since 1.9, the node's own name before.
    """
    return matching(trace, trace.operators, _BACKWARD)


def matching(trace: Trace, table: Table, pattern: re.Pattern[str]) -> Array:
    """Boolean mask of shape `(len(table),)`: rows whose name matches from its beginning."""
    hit = np.fromiter((pattern.match(name) is not None for name in trace.names), bool, len(trace.names))
    return hit[table["name"]] if len(table) else np.zeros(0, bool)
