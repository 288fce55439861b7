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
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuprof.model.table import Array

if TYPE_CHECKING:
    from gpuprof.whatif.graph.traversal import Traversal

ORIGIN = 0


class NodeKind(IntEnum):
    """What a node's duration is.

    HOST_GAP: Python and dispatcher work before a call (or after the last one). CALL: the call's own time, without what
    it waits. STREAM_GAP: what the device needs between two operations of a stream. DEVICE_OP: a kernel, copy or memset.
    """

    ORIGIN = 0
    HOST_GAP = 1
    CALL = 2
    STREAM_GAP = 3
    DEVICE_OP = 4


class EdgeKind(IntEnum):
    """Why the one waits for the other (docs/design/whatif.md has the table)."""

    RELEASE = 0
    LAUNCH = 1
    QUEUE = 2
    STREAM_SYNC = 3
    DEVICE_SYNC = 4
    EVENT_SYNC = 5
    BLOCKING_COPY = 6
    ALLOCATION = 7
    EVENT_WAIT = 8
    INFERRED_WAIT = 9
    HAND_OFF = 10


HOST_WAITS = (
    EdgeKind.STREAM_SYNC,
    EdgeKind.DEVICE_SYNC,
    EdgeKind.EVENT_SYNC,
    EdgeKind.BLOCKING_COPY,
    EdgeKind.ALLOCATION,
)


class Edges(NamedTuple):
    """Edges between chains; arrays of shape `(edges,)`: nodes int64, lags int64 ns, `kind` EdgeKind as uint8."""

    src: Array
    dst: Array
    lag_ns: Array
    kind: Array

    @classmethod
    def of(cls, src: Array, dst: Array, lag_ns: Array | int, kind: EdgeKind) -> Edges:
        """Edges of one kind; a single lag is given to all."""
        lags = np.broadcast_to(np.asarray(lag_ns, np.int64), len(src))
        return cls(np.asarray(src, np.int64), np.asarray(dst, np.int64), lags, np.full(len(src), kind, np.uint8))

    @classmethod
    def join(cls, *parts: Edges) -> Edges:
        """All of them."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def take(self, rows: Array) -> Edges:
        """The chosen ones (an index array or a mask)."""
        return Edges(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class Nodes:
    """What does not change while only durations are edited; arrays of shape `(nodes,)`.

    `kind` NodeKind; `row` the row of calls (host gap: of the call that follows; call) or of device_events (stream gap,
    operation), -1 if none; `chain` its chain, ascending; `recorded_ns` when it ended as recorded, from the origin on.
    """

    kind: Array
    row: Array
    chain: Array
    recorded_ns: Array

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def first(self) -> Array:
        """Boolean mask: the first node of its chain."""
        return np.concatenate(([True], np.diff(self.chain) != 0))

    def of_kind(self, kind: NodeKind) -> Array:
        """Boolean mask: nodes of that kind."""
        mask: Array = self.kind == kind
        return mask


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes, edges and the durations to be re-timed.

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
        from gpuprof.whatif.graph.traversal import make_traversal

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
        return int(self.nodes.recorded_ns.max(initial=0))

    def select(self, *kinds: NodeKind) -> Array:
        """Indices of all nodes of these kinds."""
        return np.flatnonzero(np.isin(self.nodes.kind, kinds))

    def between(self, nodes: Array, start_ns: int, end_ns: int) -> Array:
        """Those of `nodes` that were recorded to end in [start_ns, end_ns) of the trace's time."""
        at = self.nodes.recorded_ns[nodes] + self.origin_ns
        return nodes[(at >= start_ns) & (at < end_ns)]
