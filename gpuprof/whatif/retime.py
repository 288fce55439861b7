"""Re-timing: when every node of a graph ends, in one topological pass. Exact in integers."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph import Graph


def retime(graph: Graph) -> Array:
    """When each node ends, in ns from the origin; int64 of shape `(nodes,)`."""
    plan, edges = graph.plan, graph.edges
    along = np.cumsum(graph.duration_ns)
    cost = (along[edges.src] + edges.lag_ns - along[edges.dst])[plan.edge].tolist()
    held = [0]
    hold = held.append
    for before, source, more in zip(plan.before, plan.source, cost, strict=True):
        value = held[source] + more
        if before >= 0:
            earlier = held[before]
            hold(value if value > earlier else earlier)
        else:
            hold(value)
    ends: Array = along + np.array(held, np.int64)[plan.hold]
    return ends


def span_ns(graph: Graph) -> int:
    """When the last node ends, in ns from the origin."""
    return int(retime(graph).max(initial=0))


def frozen(graph: Graph) -> Graph:
    """The graph in which every unexplained delay stays as recorded: it follows whatever the node waits for."""
    late = graph.unexplained_ns
    lags = graph.edges.lag_ns + late[graph.edges.dst]
    return graph.with_lags(lags).with_durations(graph.duration_ns + late)
