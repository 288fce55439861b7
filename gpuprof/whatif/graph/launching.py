"""Edges from calls to the operations they enqueue, and from a full queue back to the calls."""

from __future__ import annotations

import numpy as np

from gpuprof.model.kinds import CallKind, CopyKind, HostMemory
from gpuprof.model.table import Array
from gpuprof.whatif.graph.layout import Layout
from gpuprof.whatif.graph.nodes import EdgeKind, Edges
from gpuprof.whatif.graph.streams import launch_lags, stream_gaps

# Launches a stream takes before the next one blocks, as observed (docs/design/whatif.md).
QUEUE_LENGTH = 1_020
# A call that took longer than this many times the 25th percentile of its name stood still.
STOOD_FACTOR = 3
_NEARLY_FULL = 0.95


def launch_edges(layout: Layout, staged: Array) -> tuple[Edges, Array]:
    """Launch edges, and for each operation its stream gap in ns, shape `(len(ops),)`.

    `staged` masks the operations that are pageable copies the host waits in: there the host first waits for the stream
    and then fills a staging buffer, so that their lag is as recorded.
    """
    ops = layout.ops
    lag, gap = launch_lags(ops), stream_gaps(ops)
    own = ops.starts - np.maximum(ops.enqueued, np.where(ops.first, ops.enqueued, ops.previous_end))
    staged = staged & (own >= 0)
    lag, gap = np.where(staged, own, lag), np.where(staged & ~ops.first, own, gap)
    linked = np.flatnonzero(ops.call >= 0)
    begin = layout.call_node[ops.call[linked]] - 1
    return Edges.of(begin, layout.op_node[linked] - 1, lag[linked], EdgeKind.LAUNCH), gap


def staged_copies(layout: Layout, blocking: Array) -> Array:
    """Boolean mask over operations: H2D copies from pageable memory whose call waits (`blocking`, over calls)."""
    ops, events = layout.ops, layout.trace.device_events
    pageable = np.isin(events["host_memory"][ops.events], (HostMemory.PAGEABLE, HostMemory.UNKNOWN))
    waited = np.where(ops.call >= 0, blocking[ops.call], False) if len(blocking) else np.zeros(len(ops), bool)
    mask: Array = pageable & waited & (events["copy"][ops.events] == CopyKind.H2D)
    return mask


def queue_edges(layout: Layout) -> tuple[Edges, Array]:
    """Edges from the begin of an operation to the return of the launch that comes a queue's length after its own, and
    the rows of calls that stood still for a full queue."""
    ops = layout.ops
    src, dst, stood = [], [], [np.empty(0, np.int64)]
    for stream in range(len(ops.labels)):
        low, high = ops.bounds(stream)
        linked = low + np.flatnonzero(ops.call[low:high] >= 0)
        new = np.concatenate(([True], np.diff(ops.call[linked]) != 0))[: len(linked)]
        ops_of_calls = linked[new]
        calls = ops.call[ops_of_calls]
        begun = np.searchsorted(ops.starts[ops_of_calls], layout.returns[calls], side="right")
        waiting = np.arange(1, len(calls) + 1) - begun
        length = max(QUEUE_LENGTH, int(waiting.max(initial=0)))
        src.append(layout.op_node[ops_of_calls[: max(len(calls) - length, 0)]] - 1)
        dst.append(layout.call_node[calls[length:]])
        stood.append(calls[(waiting >= _NEARLY_FULL * QUEUE_LENGTH) & _long(layout, calls)])
    if not src:
        return Edges.of(np.empty(0), np.empty(0), 0, EdgeKind.QUEUE), stood[0]
    return Edges.of(np.concatenate(src), np.concatenate(dst), 0, EdgeKind.QUEUE), np.concatenate(stood)


def _long(layout: Layout, rows: Array) -> Array:
    duration = layout.returns[rows] - layout.begins[rows]
    launches = layout.trace.calls["kind"][rows] == CallKind.KERNEL
    usual = np.percentile(duration[launches], 25) if launches.any() else 0
    mask: Array = duration > STOOD_FACTOR * usual
    return mask
