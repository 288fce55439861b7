"""Trace -> Graph."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.transfers.sync_waits import blocking_copies
from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.cross_thread_edges import cross_thread_edges
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.host import host_chains, outer_calls
from gpuprof.whatif.graph.launching import launch_edges, queue_edges, staged_copies
from gpuprof.whatif.graph.layout import Layout, lay_out
from gpuprof.whatif.graph.nodes import ORIGIN, EdgeKind, Edges
from gpuprof.whatif.graph.stream_waits import event_wait_edges, inferred_edges
from gpuprof.whatif.graph.streams import operations
from gpuprof.whatif.graph.traversal import follows, recorded_keys
from gpuprof.whatif.graph.unexplained import unexplained
from gpuprof.whatif.graph.waits import host_wait_edges


def build(trace: Trace, start_ns: int | None = None, end_ns: int | None = None) -> Graph:
    """The dependency graph of the run, or of the calls that began in [start_ns, end_ns) and what they launched.

    A trace without calls or without device events has a graph of what there is; it explains little, and is graded so.
    """
    low = min([trace.span_start_ns, *trace.steps["start_ns"].tolist()]) if start_ns is None else start_ns
    high = np.iinfo(np.int64).max if end_ns is None else end_ns
    calls, events = trace.calls, trace.device_events
    inside = (calls["start_ns"] >= low) & (calls["start_ns"] < high)
    chains = host_chains(trace, inside)
    began = (events["start_ns"] >= low) & (events["start_ns"] < high)
    launched = np.where(events["call"] >= 0, inside[events["call"]], began) if len(calls) else began
    ops = operations(trace, launched, outer_calls(trace, chains))
    layout = lay_out(trace, chains, ops, low)
    return _joined(layout)


def _joined(layout: Layout) -> Graph:
    blocking = blocking_copies(layout.trace) & (layout.call_node >= 0)
    launches, gaps = launch_edges(layout, staged_copies(layout, blocking))
    queue, stood = queue_edges(layout)
    waits, own = host_wait_edges(layout, blocking, stood)
    hand_offs, gap_nodes, gap_durations = cross_thread_edges(layout)
    duration = layout.duration_ns.copy()
    in_chain = np.flatnonzero(layout.call_node >= 0)
    duration[layout.call_node[in_chain]] = own[in_chain]
    duration[layout.op_node - 1] = gaps
    duration[gap_nodes] = gap_durations
    edges = Edges.join(_releases(layout), launches, queue, waits, event_wait_edges(layout), hand_offs)
    edges = _consistent(layout, edges)
    late = unexplained(layout.nodes, edges, duration)
    inferred = _consistent(layout, inferred_edges(layout, late[layout.op_node - 1]))
    edges = Edges.join(edges, inferred)
    events = np.full(len(layout.trace.device_events), -1, np.int64)
    events[layout.ops.events] = layout.op_node
    hosts = len(layout.chains)
    return Graph(
        nodes=layout.nodes,
        edges=edges,
        duration_ns=duration,
        unexplained_ns=unexplained(layout.nodes, edges, duration),
        origin_ns=layout.origin_ns,
        call_node=layout.call_node,
        event_node=events,
        streams={hosts + 1 + at: label for at, label in enumerate(layout.ops.labels)},
        host_chain=1 if layout.chains else -1,
    )


def _releases(layout: Layout) -> Edges:
    """Every chain begins at the origin, a stream whose first operation has no known launch when that began."""
    nodes, opens = layout.nodes, layout.openers
    unknown = np.zeros(len(nodes), bool)
    unknown[layout.op_node[layout.ops.call < 0] - 1] = True
    lag = np.where(unknown[opens], nodes.recorded_ns[opens], 0)
    return Edges.of(np.full(len(opens), ORIGIN), opens, lag, EdgeKind.RELEASE)


def _consistent(layout: Layout, edges: Edges) -> Edges:
    """Without edges that the record contradicts (clocks that disagree): no end before its cause."""
    return edges.take(follows(layout.nodes, edges, recorded_keys(layout.nodes)))
