"""Simulation: when every node of a graph ends, in one topological pass. Exact in integers."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import EdgeKind
from gpuprof.whatif.graph.traversal import Traversal

_NEVER = -(2**62)


def retime(graph: Graph) -> Array:
    """When each node ends, in ns from the origin; int64 of shape `(nodes,)`.

    A full launch queue rarely holds the host up: first without its limit, which costs half, and where that would break
    it again with it. The least ends that respect all other edges are the least of all if they respect the limit too.
    """
    edges = graph.edges
    limit = np.flatnonzero(edges.kind == EdgeKind.QUEUE)
    if not len(limit):
        return _followed(graph, graph.plan)
    ends = _followed(graph, graph.plan_without_limit)
    if (ends[edges.src[limit]] + edges.lag_ns[limit] <= ends[edges.dst[limit]]).all():
        return ends
    return _followed(graph, graph.plan)


def _followed(graph: Graph, plan: Traversal) -> Array:
    """The ends by the edges of `plan`."""
    along, edges, rows = np.cumsum(graph.duration_ns), graph.edges, plan.edge
    if not len(rows):
        return along
    cost = along[edges.src[rows]] + edges.lag_ns[rows] - along[edges.dst[rows]]
    most = np.maximum.reduceat(cost, plan.begins)[plan.order].tolist()
    held = [0, _NEVER]
    hold = held.append
    for before, source, more in zip(plan.before, plan.source, most, strict=True):
        value, earlier = held[source] + more, held[before]
        hold(value if value > earlier else earlier)
    own = np.array(held, np.int64)[plan.held_by] + cost
    apart = plan.chain * (int(own.max()) - int(own.min()) + 1)
    ends: Array = along + np.append(np.maximum.accumulate(own + apart) - apart, 0)[plan.hold]
    return ends


def span_ns(graph: Graph) -> int:
    """When the last node ends, in ns from the origin."""
    return int(retime(graph).max())


def frozen(graph: Graph) -> Graph:
    """The graph in which every unexplained delay stays as recorded: it follows whatever the node waits for."""
    late = graph.unexplained_ns
    lags = graph.edges.lag_ns + late[graph.edges.dst]
    return graph.with_lags(lags).with_durations(graph.duration_ns + late)
