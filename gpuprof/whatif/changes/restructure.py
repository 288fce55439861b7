"""Changes of what runs where: another stream, other kernels, one graph launch for many. Graph -> Graph."""

from __future__ import annotations

from dataclasses import replace as with_fields

import numpy as np

from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, ORIGIN, EdgeKind, Edges, NodeKind, Nodes

# Between the kernels of one graph, and to launch it (docs/design/whatif.md, formula 4).
GRAPH_KERNEL_GAP_NS = 1_000
GRAPH_LAUNCH_NS = 10_000


def move_stream(
    graph: Graph,
    operations: Array,
    stream: tuple[int, int],
    *,
    consumers: Array | None = None,
    producers: Array | None = None,
) -> Graph:
    """The operations (DEVICE_OP nodes) on another `(device, stream)`, in order of their recorded begins.

    `consumers`: for each the operation that first needs its result (-1: none) and waits for it by an event; without
    them the next one that stays on its old stream, which is safe and hides the least. `producers`: likewise the one it
    needs. UsageError where the order asked for is impossible.
    """
    operations = np.unique(operations)
    if consumers is None:
        consumers = _next_staying(graph, operations)
    known = {label: chain for chain, label in graph.streams.items()}
    target = known.get(stream, int(graph.nodes.chain.max()) + 1)
    chain = graph.nodes.chain.copy()
    chain[operations] = chain[operations - 1] = target
    begins = graph.nodes.recorded_ns.copy()
    ends = graph.nodes.of_kind(NodeKind.DEVICE_OP)
    begins[ends] = graph.nodes.recorded_ns[np.flatnonzero(ends) - 1]
    on_device = graph.nodes.kind >= NodeKind.STREAM_GAP
    order = np.lexsort((np.where(on_device, begins, 0), chain))
    moved = _reordered(graph, order, chain)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    events = [moved.edges, _opening(moved)]
    for first, then in ((operations, consumers), (producers, operations)):
        if first is not None:
            both = (first >= 0) & (then >= 0)
            events.append(Edges.of(place[first[both]], place[then[both]] - 1, 0, EdgeKind.EVENT_WAIT))
    edited = with_fields(moved, edges=Edges.join(*events), streams=graph.streams | {target: stream})
    _ = edited.plan  # an impossible order is told here, not when it is simulated
    return edited


def _next_staying(graph: Graph, operations: Array) -> Array:
    stays = graph.nodes.of_kind(NodeKind.DEVICE_OP)
    stays[operations] = False
    staying = np.append(np.flatnonzero(stays), -1)
    following = staying[np.searchsorted(staying[:-1], operations)]
    same = graph.nodes.chain[following] == graph.nodes.chain[operations]
    return np.where((following >= 0) & same, following, -1)


def _reordered(graph: Graph, order: Array, chain: Array) -> Graph:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    old = graph.nodes
    nodes = Nodes(old.kind[order], old.row[order], chain[order], old.recorded_ns[order])
    edges = graph.edges._replace(src=place[graph.edges.src], dst=place[graph.edges.dst])
    call_node, event_node = (np.where(rows >= 0, place[rows], -1) for rows in (graph.call_node, graph.event_node))
    return with_fields(
        graph,
        nodes=nodes,
        edges=edges,
        duration_ns=graph.duration_ns[order],
        unexplained_ns=graph.unexplained_ns[order],
        call_node=call_node,
        event_node=event_node,
    )


def _opening(graph: Graph) -> Edges:
    """Releases for the first nodes of chains that have none."""
    first = graph.nodes.first.copy()
    first[graph.edges.dst[graph.edges.kind == EdgeKind.RELEASE]] = False
    first[ORIGIN] = False
    nodes = np.flatnonzero(first)
    return Edges.of(np.full(len(nodes), ORIGIN), nodes, 0, EdgeKind.RELEASE)


def launch_together(
    graph: Graph,
    within: Intervals,
    longest_ns: int,
    *,
    gap_ns: int = GRAPH_KERNEL_GAP_NS,
    launch_ns: int = GRAPH_LAUNCH_NS,
) -> Graph:
    """What host chains launch in the union `within` (ns of the trace), as one CUDA graph for each stretch of calls.

    A stretch ends at a call that waits for the device and at a host gap of more than `longest_ns`: both stay. It costs
    `launch_ns`, or what it cost before where that was less.
    """
    calls, starts = stretches(graph, within, longest_ns)
    duration = graph.duration_ns.copy()
    if not len(calls):
        return graph
    number = np.cumsum(starts) - 1
    before = np.bincount(number, duration[calls] + np.where(starts, 0, duration[calls - 1]))
    duration[calls] = 0
    duration[calls[~starts] - 1] = 0
    duration[calls[starts]] = np.minimum(before, launch_ns).astype(np.int64)
    inside = np.zeros(len(graph.nodes), bool)
    inside[calls] = True
    edges = graph.edges
    gaps = edges.dst[(edges.kind == EdgeKind.LAUNCH) & inside[np.minimum(edges.src + 1, len(inside) - 1)]]
    duration[gaps] = np.minimum(duration[gaps], gap_ns)
    queue = (edges.kind == EdgeKind.QUEUE) & inside[edges.dst]
    return with_fields(graph.with_edges(edges.take(~queue)), duration_ns=duration)


def stretches(graph: Graph, within: Intervals, longest_ns: int) -> tuple[Array, Array]:
    """CALL nodes begun in `within` that wait for nothing, in order, and a mask of those that begin a stretch: the first
    of a chain, or after a call that waits, is not in `within`, or lies more than `longest_ns` of host work back."""
    nodes = graph.nodes
    every = graph.select(NodeKind.CALL)
    waits = np.zeros(len(nodes), bool)
    waits[graph.edges.dst[np.isin(graph.edges.kind, HOST_WAITS)]] = True
    free = ~waits[every] & intervals.contains(within, nodes.recorded_ns[every - 1] + graph.origin_ns)
    after_free = np.concatenate(([False], free[:-1] & (np.diff(nodes.chain[every]) == 0)))[: len(every)]
    joined = after_free & (graph.duration_ns[every - 1] <= longest_ns)
    mask: Array = ~joined[free]
    return every[free], mask
