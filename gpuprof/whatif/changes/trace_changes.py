"""Edits on what a trace's tables name: rows of calls, rows of device_events, times of the trace."""

from __future__ import annotations

import numpy as np

from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.changes.batch_waits import waits_with_workers
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.changes.restructure import launch_together, stretches
from gpuprof.whatif.fidelity import replayed
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, EdgeKind
from gpuprof.whatif.retime import retime

# Longer than this no staging takes before the device begins to copy: the first copy of a run waits for the driver.
MOST_STAGING_NS = 5_000_000


def unchanged(graph: Graph) -> Graph:
    """The edit that changes nothing: the low end where a change may be without effect."""
    return graph


def calls_gone(rows: Array) -> GraphEdit:
    """Without these calls, so that nobody waits in them. What they enqueue stays."""
    return lambda graph: graph_edits.remove(graph, _known(graph.call_node[rows]))


def waits_dropped(rows: Array) -> GraphEdit:
    """These calls no longer wait for the device; what else they do stays."""
    return lambda graph: graph_edits.drop_edge(graph, _known(graph.call_node[rows]), *HOST_WAITS)


def operations_scaled(rows: Array, factor: float) -> GraphEdit:
    """These device events take `factor` times as long."""
    return lambda graph: graph_edits.scale(graph, _known(graph.event_node[rows]), factor)


def operations_lasting(rows: Array, duration_ns: Array) -> GraphEdit:
    """These device events last `duration_ns` >= 0 each, of the shape of `rows`."""

    def edit(graph: Graph) -> Graph:
        nodes = graph.event_node[rows]
        known = nodes >= 0
        return graph_edits.set_duration(graph, nodes[known], duration_ns[known])

    return edit


def operations_gone(rows: Array) -> GraphEdit:
    """Without these device events; the calls that launch them stay."""
    return lambda graph: graph_edits.remove(graph, _known(graph.event_node[rows]))


def host_time_scaled(within: Intervals, factor: float | Array) -> GraphEdit:
    """The main thread's chain takes `factor` times as long (one for each interval) in the union `within`."""
    return lambda graph: graph_edits.scale_host_time(graph, within, factor)


def batches_from_workers(
    waits: Intervals, load_ns: Array, workers: int, prefetch: int, gained: float = 1.0
) -> GraphEdit:
    """The waits for batches (a union, ns of the trace) as `workers` that are running already leave them.

    `load_ns`: what each batch takes to make, of the shape of the waits; `gained`: the share of the gain that is
    reached. The work between two waits is that of the graph given, and never more than twice its median: what lies
    between two iterations of the loader is none.
    """

    def edit(graph: Graph) -> Graph:
        ends = retime(graph)
        begin, end = (replayed(graph, ends, times) for times in waits)
        rest = np.maximum(begin[1:] - end[:-1], 0)
        if not len(rest) or np.isnan(rest).any():
            return graph
        rest = np.minimum(np.append(rest, np.median(rest)), 2 * np.median(rest))
        waited = np.maximum(waits.ends - waits.starts, 1)
        left = np.minimum(waits_with_workers(load_ns, rest, workers, prefetch=prefetch) / waited, 1.0)
        return graph_edits.scale_host_time(graph, waits, 1 - (1 - left) * gained)

    return edit


def copies_from_pinned(rows: Array, duration_ns: Array, waiting_calls: Array, pinning_ns: Array | int = 0) -> GraphEdit:
    """These copies (device events) from pinned memory with non_blocking, so that they last `duration_ns`; the
    synchronising calls that belonged to them, rows `waiting_calls`, go. `pinning_ns`: what filling the pinned memory
    costs the thread that copies. Copies that waited for the driver to start up stay as they are."""

    def edit(graph: Graph) -> Graph:
        nodes = graph.event_node[rows]
        launches = graph.edges.take(graph.edges.kind == EdgeKind.LAUNCH)
        staging, filled = np.zeros(len(graph.nodes), np.int64), np.zeros(len(graph.nodes), np.int64)
        staging[launches.dst] = launches.lag_ns
        chosen = (nodes >= 0) & (staging[nodes - 1] <= MOST_STAGING_NS)
        copied = graph_edits.unblock_copies(graph, nodes[chosen], duration_ns[chosen])
        copied = graph_edits.remove(copied, _known(graph.call_node[waiting_calls]))
        filled[nodes[chosen] - 1] = np.broadcast_to(pinning_ns, len(rows))[chosen]
        own = copied.duration_ns.copy()
        np.add.at(own, launches.src, filled[launches.dst])
        return copied.with_durations(own)

    return edit


def launched_as_graphs(within: Intervals, longest_ns: int) -> GraphEdit:
    """Each stretch of calls in the union `within` as one CUDA graph (see `restructure.launch_together`)."""
    return lambda graph: launch_together(graph, within, longest_ns)


def launching_scaled(within: Intervals, longest_ns: int, factor: float) -> GraphEdit:
    """The host takes `factor` times as long for what `launched_as_graphs` would replace."""

    def edit(graph: Graph) -> Graph:
        calls, starts = stretches(graph, within, longest_ns)
        return graph_edits.scale(graph, np.concatenate([calls, calls[~starts] - 1]), factor)

    return edit


def _known(nodes: Array) -> Array:
    return nodes[nodes >= 0]
