"""A graph in words: its nodes by the names and times of what they stand for, in µs from the origin."""

from __future__ import annotations

import numpy as np

from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import ORIGIN, EdgeKind, NodeKind

BEFORE = {NodeKind.HOST_GAP: NodeKind.CALL, NodeKind.STREAM_GAP: NodeKind.DEVICE_OP}


def names(trace: Trace, graph: Graph) -> list[str]:
    """`launch@10` the call that began at 10, `<launch@10` the host's work before it; `k@18` and `<k@18` likewise."""
    told = []
    for node, (kind, row) in enumerate(zip(graph.nodes.kind.tolist(), graph.nodes.row.tolist(), strict=True)):
        table = trace.calls if kind in (NodeKind.HOST_GAP, NodeKind.CALL) else trace.device_events
        if node == ORIGIN:
            told.append("origin")
        elif row < 0:
            told.append(f"{'first' if graph.nodes.first[node] else 'last'} of {graph.nodes.chain[node]}")
        else:
            at = f"{(int(table['start_ns'][row]) - graph.origin_ns) / 1000:g}"
            told.append(f"{'<' if kind in BEFORE else ''}{trace.names[table['name'][row]]}@{at}")
    return told


def edges(trace: Trace, graph: Graph, *left_out: EdgeKind) -> set[str]:
    """`LAUNCH <launch@10 → <k@18 +8`: its kind, from where to where, and its lag."""
    called = names(trace, graph)
    columns = (column.tolist() for column in graph.edges)
    return {
        f"{EdgeKind(kind).name} {called[src]} → {called[dst]} {lag / 1000:+g}"
        for src, dst, lag, kind in zip(*columns, strict=True)
        if kind not in left_out
    }


def lasting(trace: Trace, graph: Graph) -> dict[str, float]:
    """How long each node takes by itself, in µs; without those of nothing."""
    spent = zip(names(trace, graph), np.asarray(graph.duration_ns).tolist(), strict=True)
    return {name: ns / 1000 for name, ns in spent if ns}


def unexplained(trace: Trace, graph: Graph) -> dict[str, float]:
    """What nothing explains, in µs."""
    spent = zip(names(trace, graph), graph.unexplained_ns.tolist(), strict=True)
    return {name: ns / 1000 for name, ns in spent if ns}
