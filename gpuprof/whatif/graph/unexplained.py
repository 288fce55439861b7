"""What was recorded later than anything in the graph accounts for."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph.nodes import Edges, Nodes


def unexplained(nodes: Nodes, edges: Edges, duration_ns: Array) -> Array:
    """How much later each node ended than its predecessors, as recorded, explain; int64 ns >= 0, shape `(nodes,)`."""
    explained = np.concatenate(([0], nodes.recorded_ns[:-1])) + duration_ns
    explained[nodes.first] = 0
    np.maximum.at(explained, edges.dst, nodes.recorded_ns[edges.src] + edges.lag_ns)
    late: Array = np.maximum(nodes.recorded_ns - explained, 0)
    return late
