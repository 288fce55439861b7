"""Random graphs, and the definition of simulation written out node by node."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import ORIGIN, EdgeKind, Edges, NodeKind, Nodes


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A few chains of host nodes and any edges that go forward in recorded time; durations and lags of any size."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    count = 1 + sum(sizes)
    recorded = [0]
    for size in sizes:
        recorded += sorted(draw(st.lists(st.integers(0, 100), min_size=size, max_size=size)))
    nodes = Nodes(
        kind=np.array([NodeKind.ORIGIN] + [NodeKind.CALL] * (count - 1), np.uint8),
        row=np.full(count, -1),
        chain=np.repeat(np.arange(len(sizes) + 1), [1, *sizes]),
        recorded_ns=np.array(recorded),
    )
    forward = [(a, b) for a in range(1, count) for b in range(1, count) if recorded[a] < recorded[b]]
    pairs = draw(st.lists(st.sampled_from(forward), max_size=12)) if forward else []
    openers = np.flatnonzero(nodes.first)[1:]
    lags = st.integers(-20, 50)
    edges = Edges.join(
        Edges.of(np.full(len(openers), ORIGIN), openers, 0, EdgeKind.RELEASE),
        Edges.of(
            np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]),
            np.array([draw(lags) for _ in pairs], np.int64), EdgeKind.STREAM_SYNC,
        ),
    )  # fmt: skip
    limits = [False] * len(openers) + [draw(st.booleans()) for _ in pairs]
    edges = edges._replace(kind=np.where(limits, EdgeKind.QUEUE, edges.kind).astype(np.uint8))
    durations = np.array([0] + [draw(st.integers(0, 50)) for _ in range(count - 1)])
    unexplained = np.array([0] + [draw(st.integers(0, 9)) for _ in range(count - 1)])
    rows = np.empty(0, np.int64)
    return Graph(nodes, edges, durations, unexplained, 0, rows, rows, {}, 1)


def by_definition(graph: Graph) -> list[int]:
    """Each node's end, from its chain and its edges, until nothing changes any more."""
    ends = [-(10**9)] * len(graph.nodes)
    ends[ORIGIN] = 0
    first = graph.nodes.first
    for _ in range(len(ends) + 1):
        for node in range(1, len(ends)):
            into = np.flatnonzero(graph.edges.dst == node)
            bounds = [ends[graph.edges.src[edge]] + int(graph.edges.lag_ns[edge]) for edge in into]
            if not first[node]:
                bounds.append(ends[node - 1] + int(graph.duration_ns[node]))
            ends[node] = max(bounds)
    return ends
