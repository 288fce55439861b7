"""The order in which a graph's edges are followed.

Along a chain a node ends at the sum of the durations up to it, P, plus how far the chain is held back. So only the
ends of edges matter: each raises the hold of its chain from its node on. An edge's own hold is that of its source's
chain at the source, plus the constant P(src) + lag − P(dst). (Max-plus algebra; the constants carry all durations.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.model.table import Array
from gpuprof.whatif.graph import ORIGIN, Edges, NodeKind, Nodes


@dataclass(frozen=True, eq=False)
class Plan:
    """Edges in an order in which each follows all it depends on. Slot 0 is the origin, slot i the i-th edge.

    `edge`: the edge of each slot from 1 on. `before`: the slot that holds back the same chain before it. `source`: the
    slot that holds back the edge's source. `hold`: for every node the slot that holds it back.
    """

    edge: Array
    before: list[int]
    source: list[int]
    hold: Array


def make_plan(nodes: Nodes, edges: Edges) -> Plan:
    """The plan; UsageError where something would wait for itself."""
    key = _keys(nodes, edges)
    edge = np.lexsort((edges.dst, key[edges.dst]))
    ends = edges.dst[edge]
    # Slots in order of nodes: those that end at the same node stay in the order of the plan.
    by_node = np.argsort(ends, kind="stable")
    sorted_ends = ends[by_node]
    slot_of = np.concatenate(([0], by_node + 1))
    before = np.zeros(len(edge) + 1, np.int64)
    before[by_node + 1] = slot_of[:-1]
    opens = np.concatenate(([True], nodes.chain[sorted_ends[1:]] != nodes.chain[sorted_ends[:-1]]))[: len(edge)]
    # The first edge of a chain ends at its first node: nothing held the chain before it but the edge itself.
    before[by_node[opens] + 1] = -1
    # How many edges end at a node or, in the order of nodes, before it.
    up_to = np.cumsum(np.bincount(ends, minlength=len(nodes)))
    source = slot_of[up_to[edges.src[edge]]]
    hold = slot_of[up_to]
    return Plan(edge, before[1:].tolist(), source.tolist(), hold)


def _keys(nodes: Nodes, edges: Edges) -> Array:
    """A number for each node that never falls along a chain and rises along every edge.

    The recorded ends are such numbers unless an edit moved something.
    """
    key = recorded_keys(nodes)
    if follows(nodes, edges, key).all():
        return key
    return _sorted_anew(nodes, edges)


def recorded_keys(nodes: Nodes) -> Array:
    """The latest recorded end of a chain's nodes up to each, in ns from the origin; int64 of shape `(nodes,)`."""
    longest = nodes.recorded_ns.max(initial=0) + 1
    key: Array = np.maximum.accumulate(nodes.recorded_ns + nodes.chain * longest) - nodes.chain * longest
    return key


def follows(nodes: Nodes, edges: Edges, key: Array) -> Array:
    """Boolean mask over edges: `key` rises along the edge."""
    mask: Array = (key[determined_by(nodes, edges)] < key[edges.dst]) | (edges.src == ORIGIN)
    return mask


def determined_by(nodes: Nodes, edges: Edges) -> Array:
    """The node that must be known for the edge to be. No edge ends at an operation's end, so its begin tells it."""
    source: Array = edges.src - (nodes.kind[edges.src] == NodeKind.DEVICE_OP)
    return source


def _sorted_anew(nodes: Nodes, edges: Edges) -> Array:
    """Kahn's topological order, from scratch."""
    count = len(nodes)
    first = nodes.first.tolist()
    source = determined_by(nodes, edges)
    order = np.argsort(source, kind="stable")
    targets = edges.dst[order].tolist()
    begin = np.searchsorted(source[order], np.arange(count + 1)).tolist()
    missing = np.bincount(edges.dst, minlength=count).tolist()
    for node in range(count):
        missing[node] += not first[node]
    ready = [node for node in range(count) if not missing[node]]
    key, rank = np.zeros(count, np.int64), 0
    while ready:
        node = ready.pop()
        key[node], rank = rank, rank + 1
        following = targets[begin[node] : begin[node + 1]]
        if node + 1 < count and not first[node + 1]:
            following.append(node + 1)
        for target in following:
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    if rank < count:
        raise UsageError("the edited graph has a cycle: an operation would wait for itself; move or keep what it needs")
    return key
