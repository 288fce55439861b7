"""The order in which a graph's edges are followed.

Along a chain a node ends at the sum of the durations up to it, P, plus how far the chain is held back. So only the
ends of edges matter: each raises the hold of its chain from its node on. An edge's own hold is that of its source's
chain at the source, plus the constant P(src) + lag − P(dst). (Max-plus algebra; the constants carry all durations.)

Neighbours on a chain with the same source's hold are a *run*, unless an edge begins between them: of a run only the
greatest constant counts for whatever follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.model.table import Array
from gpuprof.whatif.graph.nodes import ORIGIN, Edges, NodeKind, Nodes

BEFORE_ALL = 1


@dataclass(frozen=True, eq=False)
class Traversal:
    """Runs of edges in an order in which each follows all it depends on. Slot 0 is the origin's hold, slot BEFORE_ALL
    that of a chain before its first edge, slot i + 2 that of the i-th run.

    `edge`: the edges by the node they end at, of shape `(planned,)`; `chain` their chains, `held_by` the slots of their
    sources. `begins`: where in `edge` each run begins, `order` the runs in their order. `before`: the slot of the same
    chain before each of those, `source` the slot of its source. `hold`: for every node the place in `edge` of the last
    one that ends there or before, -1 for the origin.
    """

    edge: Array
    chain: Array
    held_by: Array
    begins: Array
    order: Array
    before: list[int]
    source: list[int]
    hold: Array


def make_traversal(nodes: Nodes, edges: Edges) -> Traversal:
    """The plan; UsageError where something would wait for itself."""
    key = _keys(nodes, edges)
    followed = np.lexsort((edges.dst, key[edges.dst]))
    # Those that end at the same node stay in the order in which they are followed.
    place = np.argsort(edges.dst[followed], kind="stable")
    edge, count = followed[place], len(followed)
    chain = nodes.chain[edges.dst[edge]]
    # How many edges end at a node or, in the order of nodes, before it.
    up_to = np.cumsum(np.bincount(edges.dst, minlength=len(nodes)))
    source = up_to[edges.src[edge]] - 1
    opens = np.diff(chain, prepend=-1) != 0
    parted = np.zeros(count + 1, bool)
    parted[source + 1] = True
    new = opens | parted[:count] | (np.diff(source, prepend=-2) != 0)
    begins = np.flatnonzero(new)
    order = np.argsort(place[np.append(begins[1:], count)[: len(begins)] - 1])
    slot = np.empty(len(begins) + 1, np.int64)
    slot[order], slot[-1] = np.arange(len(begins)) + 2, 0
    run = np.append(np.cumsum(new) - 1, -1)
    held_by = slot[run[source]]
    before = np.where(opens[begins], BEFORE_ALL, slot[np.arange(len(begins)) - 1])
    return Traversal(
        edge, chain, held_by, begins, order, before[order].tolist(), held_by[begins][order].tolist(), up_to - 1
    )


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
    longest = nodes.recorded_ns.max() + 1
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
