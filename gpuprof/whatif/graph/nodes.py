"""Nodes and edges of the dependency graph: what an activity is, and why one waits for another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.model.table import Array

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
