"""Changes to a graph's durations and edges: pure functions, Graph -> Graph.

A change that touches several things is a composition (`together`), simulated as one; gains are never multiplied. Nodes
are chosen by index: `graph.select`, `graph.call_node[rows of calls]`, `graph.event_node[rows of device_events]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.model.intervals import Intervals, covered_until
from gpuprof.model.table import Array
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, EdgeKind, NodeKind
from gpuprof.whatif.graph.streams import USUAL_LAUNCH_LAG_NS, USUAL_STREAM_GAP_NS

GraphEdit = Callable[[Graph], Graph]


def together(*edits: GraphEdit) -> GraphEdit:
    """All of them, one after the other, as one edit."""

    def edit(graph: Graph) -> Graph:
        for each in edits:
            graph = each(graph)
        return graph

    return edit


def scale(graph: Graph, nodes: Array, factor: float) -> Graph:
    """Their durations times `factor`, >= 0, rounded to ns."""
    if not factor >= 0:
        raise UsageError(f"a duration cannot be scaled by {factor}; give a factor of 0 or more")
    duration = graph.duration_ns.copy()
    chosen = duration[nodes]
    # A negative stream gap is an overlap of two operations, no work to be scaled.
    duration[nodes] = np.where(chosen > 0, np.rint(chosen * factor), chosen).astype(np.int64)
    return _lasting(graph, duration)


def set_duration(graph: Graph, nodes: Array, duration_ns: Array | int) -> Graph:
    """Their durations set to `duration_ns` >= 0, one value or one for each."""
    if np.any(np.asarray(duration_ns) < 0):
        raise UsageError("a duration cannot be negative; give ns of 0 or more")
    duration = graph.duration_ns.copy()
    duration[nodes] = duration_ns
    return _lasting(graph, duration)


def _lasting(graph: Graph, duration_ns: Array) -> Graph:
    """With these durations; what an allocating call does after the device has drained is its own work, too."""
    edges = graph.edges
    own = edges.kind == EdgeKind.ALLOCATION
    changed = graph.with_durations(duration_ns)
    if not own.any():
        return changed
    return changed.with_lags(np.where(own, duration_ns[edges.dst], edges.lag_ns))


def remove(graph: Graph, nodes: Array) -> Graph:
    """Without them: calls and host gaps take no time, operations neither time nor a launch.

    Who waited for a removed operation waits for what came before it on its stream. To remove a launch and its
    operation, give both nodes.
    """
    chosen = np.zeros(len(graph.nodes), bool)
    chosen[nodes] = True
    gaps = np.zeros(len(graph.nodes), bool)
    gaps[:-1] = (chosen & graph.nodes.of_kind(NodeKind.DEVICE_OP))[1:]
    duration = np.where(chosen | gaps, np.minimum(graph.duration_ns, 0), graph.duration_ns)
    edges = graph.edges
    own = np.isin(edges.kind, (EdgeKind.LAUNCH, EdgeKind.INFERRED_WAIT)) & gaps[edges.dst]
    waits = np.isin(edges.kind, (*HOST_WAITS, EdgeKind.QUEUE)) & chosen[edges.dst]
    late = np.where(chosen | gaps, 0, graph.unexplained_ns)
    return replace(graph.with_edges(edges.take(~(own | waits))), duration_ns=duration, unexplained_ns=late)


def drop_edge(graph: Graph, nodes: Array, *kinds: EdgeKind) -> Graph:
    """Without the edges of these kinds that end at `nodes` (HOST_WAITS into calls: they no longer wait)."""
    chosen = np.zeros(len(graph.nodes), bool)
    chosen[nodes] = True
    dropped = chosen[graph.edges.dst] & np.isin(graph.edges.kind, kinds) & (graph.edges.kind != EdgeKind.RELEASE)
    return graph.with_edges(graph.edges.take(~dropped)) if dropped.any() else graph


def scale_host_time(graph: Graph, within: Intervals, factor: float | Array) -> Graph:
    """What the main thread's chain did in the union `within` (ns of the trace) takes `factor` times as long.

    One factor, or one for each interval. For a part of the host's work that has no node of its own: a DataLoader's
    `__next__`, a source line.
    """
    factors = np.broadcast_to(np.asarray(factor, np.float64), len(within.starts))
    if not np.all(factors >= 0) or not np.all(np.asarray(factor) >= 0):
        raise UsageError(f"a duration cannot be scaled by {factor}; give a factor of 0 or more")
    chain = np.flatnonzero(graph.nodes.chain == graph.host_chain)
    nodes, times = chain[1:], graph.nodes.recorded_ns[chain] + graph.origin_ns
    inside = np.diff(covered_until(within, times))
    # What a call waited is in its edges; only its own work can be scaled. A gap may have been made shorter, all alike.
    gap = graph.nodes.kind[nodes] == NodeKind.HOST_GAP
    whole = np.where(gap & (inside > 0), np.diff(times), inside)
    own = np.minimum(whole, graph.duration_ns[nodes]) / np.maximum(whole, 1)
    more = np.diff(_weighted(within, factors - 1, times))
    duration = graph.duration_ns.copy()
    duration[nodes] += np.rint(more * own).astype(np.int64)
    return _lasting(graph, duration)


def _weighted(within: Intervals, weights: Array, times: Array) -> Array:
    """Integral of the intervals' weights up to each time, float ns."""
    if not len(within.starts):
        return np.zeros(len(times))
    corners = np.stack([within.starts, within.ends], axis=1).ravel()
    grown = (within.ends - within.starts) * weights
    heights = np.stack([np.cumsum(grown) - grown, np.cumsum(grown)], axis=1).ravel()
    # From the first corner on: floats are exact to the ns only for some months of ns.
    grown_until: Array = np.interp(times - corners[0], corners - corners[0], heights)
    return grown_until


def unblock_copies(graph: Graph, operations: Array, duration_ns: Array | int) -> Graph:
    """Copies from pinned memory with non_blocking: the host no longer waits in them, and they last `duration_ns`.

    `operations` are DEVICE_OP nodes. A later synchronisation by the user stays.
    """
    graph = set_duration(graph, operations, duration_ns)
    gaps = operations - 1
    launch = (graph.edges.kind == EdgeKind.LAUNCH) & np.isin(graph.edges.dst, gaps)
    calls = graph.edges.src[launch] + 1
    lag = np.where(launch, np.minimum(graph.edges.lag_ns, USUAL_LAUNCH_LAG_NS), graph.edges.lag_ns)
    graph = set_duration(graph.with_lags(lag), gaps, np.clip(graph.duration_ns[gaps], 0, USUAL_STREAM_GAP_NS))
    return drop_edge(graph, calls, EdgeKind.BLOCKING_COPY)
