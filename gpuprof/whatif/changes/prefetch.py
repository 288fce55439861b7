"""Copies to the device ahead of time: on a stream of their own, and asked for while the step before computes."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.changes.restructure import move_stream
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import EdgeKind
from gpuprof.whatif.predict import Range


def copies_prefetched(rows: Array, steps: Array, device: int) -> Range:
    """`copied_ahead`; at worst each copy is asked for when it is now, only on another stream."""
    ahead = copied_ahead(rows, steps, device)
    return Range(copied_beside(rows, device), ahead, ahead)


def copied_beside(rows: Array, device: int) -> GraphEdit:
    """These copies (device events of one device) on a new stream; what follows on theirs waits for them by an event."""

    def edit(graph: Graph) -> Graph:
        nodes = graph.event_node[rows]
        nodes = nodes[nodes >= 0]
        if not len(nodes):
            return graph
        side = 1 + max((stream for at, stream in graph.streams.values() if at == device), default=0)
        return move_stream(graph, nodes, (device, side))

    return edit


def copied_ahead(rows: Array, steps: Array, device: int) -> GraphEdit:
    """Likewise, and each launched when the copies of the step before it were: the batch is then there already.

    `steps`: the step of each copy, int64 of the shape of `rows`. Copies of the first step (and those outside of steps,
    -1) are launched as before.
    """

    def edit(graph: Graph) -> Graph:
        known = (graph.event_node[rows] >= 0) & (steps >= 0)
        moved = copied_beside(rows, device)(graph)
        launches = np.flatnonzero(moved.edges.kind == EdgeKind.LAUNCH)
        into = np.full(len(moved.nodes), -1, np.int64)
        into[moved.edges.dst[launches]] = launches
        launch = into[moved.event_node[rows[known]] - 1]
        own = steps[known][launch >= 0]
        launch = launch[launch >= 0]
        if not len(launch):
            return moved
        source = moved.edges.src.copy()
        begun, of_step = np.unique(own, return_inverse=True)
        first = np.full(len(begun), np.iinfo(np.int64).max)
        np.minimum.at(first, of_step.reshape(-1), source[launch])
        before = np.searchsorted(begun, own) - 1
        source[launch] = np.where(before >= 0, np.minimum(first[before], source[launch]), source[launch])
        return moved.with_edges(moved.edges._replace(src=source))

    return edit
