"""Where every call and every operation stands among the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.host import HostChain
from gpuprof.whatif.graph.nodes import NodeKind, Nodes
from gpuprof.whatif.graph.streams import Operations


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes with their recorded durations, and the way from rows to nodes.

    `call_node` of shape `(len(calls),)`: the CALL node, -1 if none; the host gap before it ends when the call begins.
    `op_node` of shape `(len(ops),)`: the DEVICE_OP node; the stream gap before it ends when the operation begins.
    `openers`: the first node of every chain but the origin's. All times in ns of the trace; `begins` and `returns` of
    shape `(len(calls),)` are those of calls in a chain, trimmed to each other.
    """

    trace: Trace
    chains: list[HostChain]
    ops: Operations
    origin_ns: int
    nodes: Nodes
    duration_ns: Array
    call_node: Array
    op_node: Array
    openers: Array
    begins: Array
    returns: Array

    @cached_property
    def by_correlation(self) -> dict[int, int]:
        """The EventRecord call of each correlation id."""
        calls = self.trace.calls
        rows = np.flatnonzero((calls["kind"] == CallKind.EVENT_RECORD) & (self.call_node >= 0))
        return dict(zip(calls["correlation"][rows].tolist(), rows.tolist(), strict=True))


def lay_out(trace: Trace, chains: list[HostChain], ops: Operations, origin_ns: int) -> Layout:
    """The origin, then the host chains, each with the origin as its first node, then the streams."""
    count = len(trace.calls)
    call_node = np.full(count, -1, np.int64)
    begins, returns = np.zeros(count, np.int64), np.zeros(count, np.int64)
    kinds, rows, numbers, times = [np.array([NodeKind.ORIGIN])], [np.array([-1])], [np.array([0])], [np.array([0])]
    openers, at = [], 1
    for number, chain in enumerate(chains, start=1):
        size = len(chain.calls)
        openers.append(at)
        call_node[chain.calls] = at + 2 + 2 * np.arange(size)
        begins[chain.calls], returns[chain.calls] = chain.begins, chain.ends
        gaps_and_calls = np.tile([NodeKind.HOST_GAP, NodeKind.CALL], size)
        kinds.append(np.concatenate(([NodeKind.HOST_GAP], gaps_and_calls, [NodeKind.HOST_GAP])))
        rows.append(np.concatenate(([-1], np.repeat(chain.calls, 2), [-1])))
        numbers.append(np.full(2 * size + 2, number))
        ends = np.stack([chain.begins, chain.ends], axis=1).ravel() - origin_ns
        times.append(np.concatenate(([0], ends, [ends[-1] + chain.tail_ns])))
        at += 2 * size + 2
    op_node = at + 1 + 2 * np.arange(len(ops))
    openers.extend((op_node[ops.first] - 1).tolist())
    kinds.append(np.tile([NodeKind.STREAM_GAP, NodeKind.DEVICE_OP], len(ops)))
    rows.append(np.repeat(ops.events, 2))
    numbers.append(np.repeat(len(chains) + 1 + ops.stream, 2))
    times.append(np.stack([ops.starts, ops.ends], axis=1).ravel() - origin_ns)
    nodes = Nodes(
        kind=np.concatenate(kinds).astype(np.uint8),
        row=np.concatenate(rows).astype(np.int64),
        chain=np.concatenate(numbers).astype(np.int64),
        recorded_ns=np.concatenate(times).astype(np.int64),
    )
    duration = np.diff(nodes.recorded_ns, prepend=0)
    duration[nodes.first] = 0
    return Layout(
        trace, chains, ops, origin_ns, nodes, duration, call_node, op_node, np.array(openers, np.int64), begins, returns
    )
