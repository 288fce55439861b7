"""The dependency graph of a run: what had to wait for what. Frozen arrays; edits make new graphs.

A *node* is an activity that ends at an instant. Nodes lie in chains, one chain after the other, each in order: a host
chain alternates host gaps and calls, a stream's chain alternates stream gaps and device operations. A node begins no
earlier than its predecessor in the chain ends. *Edges* join nodes of different chains: `dst` ends no earlier than
`lag_ns` after `src` ends. As a host gap ends when its call begins, and a stream gap when its operation begins, every
begin and every end has its node; a call's return is apart from its begin, or blocking copies would be cyclic.

The first node is the origin of time, alone in its chain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph.nodes import EdgeKind, Edges, NodeKind, Nodes
from gpuprof.whatif.graph.traversal import Traversal, make_traversal


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes, edges and the durations to be simulated.

    `duration_ns`: int64 of shape `(nodes,)`; negative only for stream gaps (operations recorded to overlap).
    `unexplained_ns`: how much later than its predecessors explain each node was recorded to end, >= 0.
    `origin_ns`: the trace's time of the origin. `call_node` and `event_node` map rows of calls and of device_events to
    their CALL and DEVICE_OP nodes, -1 where a row has none; the node before is its gap. `streams` maps a chain to its
    (device, stream). `host_chain` is the chain of the main thread, -1 if none.
    """

    nodes: Nodes
    edges: Edges
    duration_ns: Array
    unexplained_ns: Array
    origin_ns: int
    call_node: Array
    event_node: Array
    streams: dict[int, tuple[int, int]]
    host_chain: int

    @property
    def plan(self) -> Traversal:
        """The order in which edges are followed; shared by all graphs of the same nodes and edge ends."""
        return self._planned(limited=True)

    @property
    def plan_without_limit(self) -> Traversal:
        """That of all edges but those of the launch queue's limit; shared alike."""
        return self._planned(limited=False)

    @cached_property
    def _plans(self) -> dict[bool, Traversal]:
        return {}

    def _planned(self, *, limited: bool) -> Traversal:
        if limited not in self._plans:
            rows = np.flatnonzero(limited | (self.edges.kind != EdgeKind.QUEUE))
            plan = make_traversal(self.nodes, self.edges.take(rows))
            self._plans[limited] = replace(plan, edge=rows[plan.edge])
        return self._plans[limited]

    def with_durations(self, duration_ns: Array) -> Graph:
        """The same graph with other durations, int64 of shape `(nodes,)`."""
        return self._sharing_plan(replace(self, duration_ns=duration_ns))

    def with_lags(self, lag_ns: Array) -> Graph:
        """The same graph with other lags, int64 of shape `(edges,)`."""
        return self._sharing_plan(replace(self, edges=self.edges._replace(lag_ns=lag_ns)))

    def with_edges(self, edges: Edges) -> Graph:
        """The same nodes with other edges."""
        return replace(self, edges=edges)

    def _sharing_plan(self, other: Graph) -> Graph:
        other.__dict__["_plans"] = self._plans
        return other

    @property
    def recorded_span_ns(self) -> int:
        """From the origin to the last recorded end."""
        return int(self.nodes.recorded_ns.max())

    def select(self, *kinds: NodeKind) -> Array:
        """Indices of all nodes of these kinds."""
        return np.flatnonzero(np.isin(self.nodes.kind, kinds))

    def between(self, nodes: Array, start_ns: int, end_ns: int) -> Array:
        """Those of `nodes` that were recorded to end in [start_ns, end_ns) of the trace's time."""
        at = self.nodes.recorded_ns[nodes] + self.origin_ns
        return nodes[(at >= start_ns) & (at < end_ns)]
