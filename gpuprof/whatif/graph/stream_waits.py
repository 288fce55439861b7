"""Edges between streams: event waits, told by cuda_sync events, by the order of calls, or by the gaps alone."""

from __future__ import annotations

import numpy as np

from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.whatif.graph.layout import Layout
from gpuprof.whatif.graph.nodes import EdgeKind, Edges
from gpuprof.whatif.graph.streams import Operations
from gpuprof.whatif.graph.waits import last_enqueued

# A gap this long that nothing explains, shortly after another stream's operation ended, is taken for a wait on it.
UNEXPLAINED_GAP_NS = 3_000
LONGEST_WAIT_LAG_NS = 12_000
INFERRED_LAG_NS = 2_000
# An operation that ran through most of the delay may have ended a little earlier (ROCm: 14 to 19 µs recorded), or may
# still be draining its last blocks (up to 94 µs recorded on an A100).
LEAST_COVERED_SHARE = 0.8
LONGEST_BLOCKED_LAG_NS = 25_000
LONGEST_DRAIN_NS = 100_000
_LOOK_BACK = 12
_LOOK_AHEAD = 16


def event_wait_edges(layout: Layout) -> Edges:
    """For each StreamWaitEvent: from the last operation before the record to the first after the wait."""
    src, dst = (np.concatenate(pair) for pair in zip(_told(layout), _by_order(layout), strict=True))
    ops = layout.ops
    keep = (ops.ends[src] <= ops.starts[dst]) & (ops.stream[src] != ops.stream[dst])
    src, dst = np.unique(np.stack([src[keep], dst[keep]]), axis=1)
    since = ops.starts[dst] - ops.ends[src]
    near = since[since <= LONGEST_WAIT_LAG_NS]
    lag = int(np.median(near)) if len(near) else 0
    return Edges.of(layout.op_node[src], layout.op_node[dst] - 1, lag, EdgeKind.EVENT_WAIT)


def _told(layout: Layout) -> tuple[Array, Array]:
    """By cuda_sync events, which name the waiting stream and the EventRecord: the operation that was enqueued last
    before the record, on any other stream, and ended before the waiting one began."""
    call, record, stream = _told_waits(layout)
    ops = layout.ops
    following = np.full(len(call), -1, np.int64)
    for each in np.unique(stream):
        low, high = ops.bounds(each)
        own = np.flatnonzero(stream == each)
        place = low + np.searchsorted(ops.enqueued[low:high], layout.begins[call[own]], side="left")
        following[own] = np.where(place < high, place, -1)
    call, record, stream, following = (each[following >= 0] for each in (call, record, stream, following))
    before = last_enqueued(layout, layout.begins[record])
    other = np.arange(len(before))[:, None] != stream
    fits = (before >= 0) & other & (ops.ends[before] <= ops.starts[following])
    if not fits.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    recent = np.where(fits, ops.enqueued[before], np.iinfo(np.int64).min).argmax(axis=0)
    found = fits.any(axis=0)
    return before[recent, np.arange(len(recent))][found], following[found]


def _told_waits(layout: Layout) -> tuple[Array, Array, Array]:
    """Of the stream waits among cuda_sync events: the call, the EventRecord call and the number of the stream."""
    syncs, calls = layout.trace.syncs, layout.trace.calls
    number = {label: at for at, label in enumerate(layout.ops.labels)}
    columns = (syncs[name].tolist() for name in ("call", "awaited_correlation", "device", "stream"))
    waits = [
        (call, layout.by_correlation[awaited], number[device, stream])
        for call, awaited, device, stream in zip(*columns, strict=True)
        if call >= 0
        and calls["kind"][call] == CallKind.EVENT_WAIT
        and layout.call_node[call] >= 0
        and awaited in layout.by_correlation
        and (device, stream) in number
    ]
    call, record, stream = np.array(waits, np.int64).reshape(-1, 3).T
    return call, record, stream


def _by_order(layout: Layout) -> tuple[Array, Array]:
    """Without them: a launch to another stream than the last launch of its chain, with a StreamWaitEvent between."""
    ops, calls = layout.ops, layout.trace.calls
    src, dst = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    told = np.zeros(len(calls), bool)
    told[layout.trace.syncs["call"][layout.trace.syncs["call"] >= 0]] = True
    first_op, last_op = np.full(len(calls), -1, np.int64), np.full(len(calls), -1, np.int64)
    linked = np.flatnonzero(ops.call >= 0)
    first_op[ops.call[linked[::-1]]] = linked[::-1]
    last_op[ops.call[linked]] = linked
    for chain in layout.chains:
        waits = np.cumsum((calls["kind"][chain.calls] == CallKind.EVENT_WAIT) & ~told[chain.calls])
        launches = np.flatnonzero(first_op[chain.calls] >= 0)
        between = np.diff(waits[launches]) > 0
        earlier, later = last_op[chain.calls[launches[:-1]]], first_op[chain.calls[launches[1:]]]
        keep = between & (ops.stream[earlier] != ops.stream[later])
        src.append(earlier[keep])
        dst.append(later[keep])
    return np.concatenate(src), np.concatenate(dst)


def inferred_edges(layout: Layout, unexplained_ns: Array) -> Edges:
    """Where an operation began later than anything explains: what it probably waited for. Low confidence.

    Either an operation of another stream that ended just before, or one that ran through most of the delay and was
    ending: kernels that fill the device keep others out until their last blocks drain, so the lag may be negative.
    `unexplained_ns` of shape `(len(ops),)`.
    """
    ops = layout.ops
    late = np.flatnonzero(unexplained_ns > UNEXPLAINED_GAP_NS)
    order = np.argsort(ops.ends, kind="stable")
    place = np.searchsorted(ops.ends[order], ops.starts[late], side="right") - 1
    best, source, lag = np.zeros(len(late)), np.full(len(late), -1, np.int64), np.zeros(len(late), np.int64)
    for offset in range(_LOOK_AHEAD, -_LOOK_BACK, -1):
        at = np.clip(place + offset, 0, len(order) - 1)
        other = order[at]
        score, candidate_lag = _evidence(ops, late, other, unexplained_ns[late])
        better = (at == place + offset) & (score > best)
        best, source, lag = (
            np.where(better, new, old) for new, old in ((score, best), (other, source), (candidate_lag, lag))
        )
    found = source >= 0
    return Edges.of(layout.op_node[source[found]], layout.op_node[late[found]] - 1, lag[found], EdgeKind.INFERRED_WAIT)


def _evidence(ops: Operations, late: Array, other: Array, delay: Array) -> tuple[Array, Array]:
    """How well the operation `other` accounts for the delay of `late` (0: not at all), and the lag of such an edge."""
    begin, since = ops.starts[late], ops.starts[late] - ops.ends[other]
    possible = (ops.stream[other] != ops.stream[late]) & (ops.device[other] == ops.device[late])
    possible &= ops.starts[other] < begin
    covered = np.minimum(ops.ends[other], begin) - np.maximum(ops.starts[other], begin - delay)
    share = covered / np.maximum(delay, 1)
    kernels = (ops.kind[late] != DeviceEventKind.COPY) & (ops.kind[other] != DeviceEventKind.COPY)
    drains = (since >= 0) | (kernels & (-since <= LONGEST_DRAIN_NS))
    blocked = possible & drains & (since <= LONGEST_BLOCKED_LAG_NS) & (share >= LEAST_COVERED_SHARE)
    just_ended = possible & (since >= 0) & (since <= LONGEST_WAIT_LAG_NS) & ~blocked
    score = np.where(blocked, 1 + share, np.where(just_ended, 1 - since / (2 * LONGEST_WAIT_LAG_NS), 0.0))
    return score, np.where(blocked, since, np.minimum(since, INFERRED_LAG_NS))
