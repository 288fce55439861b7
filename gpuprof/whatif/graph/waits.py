"""Edges from the device back to the host: synchronising calls, copies that block, memory being freed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuprof.analyses.basics.host_marks import named
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array
from gpuprof.whatif.graph.launching import STOOD_FACTOR
from gpuprof.whatif.graph.layout import Layout
from gpuprof.whatif.graph.nodes import EdgeKind, Edges

_ASYNC_CALL_NS = 10_000
# Host and device clocks may disagree by that much: 16 µs is the most seen in a recorded run.
_CLOCKS_DISAGREE_NS = 50_000
_ALL_STREAMS = (-1, 2**32 - 1)
_NOT_TOLD, _EMPTY_STREAM = -1, -2
_NONE = np.iinfo(np.int64).min


class Waits(NamedTuple):
    """Calls that wait for operations; arrays of shape `(waits,)`: `call` row of calls, `op` number of the operation."""

    call: Array
    op: Array
    kind: Array


def host_wait_edges(layout: Layout, blocking: Array, stood: Array) -> tuple[Edges, Array]:
    """All such edges, and the calls' durations without what they waited, int64 ns of shape `(len(calls),)`.

    `blocking` masks the copying calls that wait, `stood` are rows of launches that waited for a full queue.
    """
    copies, staging = _copies(layout, blocking)
    waits = Waits(*(np.concatenate(each) for each in zip(copies, _syncs(layout), _frees(layout), strict=True)))
    ends = layout.ops.ends[waits.op]
    waited = np.unique(waits.call[ends > layout.begins[waits.call]])
    own = _own_durations(layout, np.concatenate([waited, stood, np.flatnonzero(blocking)]))
    own = _after_frees(layout, waits, own)
    lag = _lags(layout, waits, own)
    edges = Edges(layout.op_node[waits.op], layout.call_node[waits.call], lag, waits.kind.astype(np.uint8))
    begun = layout.op_node[staging.op] - 1
    since = layout.returns[staging.call] - layout.ops.starts[staging.op]
    return Edges.join(edges, Edges(begun, layout.call_node[staging.call], since, staging.kind.astype(np.uint8))), own


def _copies(layout: Layout, blocking: Array) -> tuple[Waits, Waits]:
    """Copying calls that return after their copy's end, and those that return between its begin and its end."""
    ops = layout.ops
    rows = np.flatnonzero((ops.call >= 0) & blocking[ops.call]) if len(blocking) else np.empty(0, np.int64)
    returns = layout.returns[ops.call[rows]]
    ended, begun = ops.ends[rows] < returns, ops.starts[rows] < returns
    kind = np.full(len(rows), EdgeKind.BLOCKING_COPY)
    whole = Waits(ops.call[rows], rows, kind)
    return Waits(*(each[ended] for each in whole)), Waits(*(each[begun & ~ended] for each in whole))


def last_enqueued(layout: Layout, times: Array) -> Array:
    """For each stream and each time the last operation enqueued before it; int64 `(streams, times)`, -1 if none."""
    ops = layout.ops
    found = np.full((len(ops.labels), len(times)), -1, np.int64)
    for stream in range(len(ops.labels)):
        low, high = ops.bounds(stream)
        place = np.searchsorted(ops.enqueued[low:high], times, side="left") - 1
        found[stream] = np.where(place >= 0, low + place, -1)
    return found


def _syncs(layout: Layout) -> Waits:
    calls, trace = layout.trace.calls, layout.trace
    rows = np.flatnonzero((calls["kind"] == CallKind.SYNCHRONIZE) & (layout.call_node >= 0))
    last = last_enqueued(layout, layout.begins[rows])
    on_event, on_stream = named(trace, calls, "Event")[rows], named(trace, calls, "Stream")[rows]
    stream, record = _told(layout, rows)
    asked = np.where(record >= 0, layout.begins[np.maximum(record, 0)], layout.begins[rows])
    last = _before_return(layout, np.where(record >= 0, last_enqueued(layout, asked), last), layout.returns[rows])
    possible = (last >= 0) & (layout.ops.ends[last] < layout.returns[rows])
    told = stream != _NOT_TOLD
    one = np.where(told, stream, _likely_stream(layout, last, possible))
    only = told | on_stream | on_event
    wanted = possible & (~only | (np.arange(len(last))[:, None] == one))
    inferred_event = on_event & (record < 0) & ~told
    at, which = np.nonzero(wanted & ~inferred_event)
    kind = np.where(on_event, EdgeKind.EVENT_SYNC, np.where(only, EdgeKind.STREAM_SYNC, EdgeKind.DEVICE_SYNC))
    by_event = _event_ends(layout, rows[inferred_event])
    waits = Waits(rows[which], last[at, which], kind[which])
    return Waits(*(np.concatenate(pair) for pair in zip(waits, by_event, strict=True)))


def _before_return(layout: Layout, last: Array, returns: Array) -> Array:
    """`last`, of shape `(streams, calls)`, but the operation before, where one is recorded to end shortly after the
    call that waited for it has returned."""
    ops, found = layout.ops, last.copy()
    late = (last >= 0) & (ops.ends[last] >= returns) & (ops.ends[last] - returns <= _CLOCKS_DISAGREE_NS)
    for stream in np.flatnonzero(late.any(axis=1)).tolist():
        low, high = ops.bounds(stream)
        place = np.searchsorted(np.maximum.accumulate(ops.ends[low:high]), returns[late[stream]], side="left") - 1
        found[stream, late[stream]] = np.where(place >= 0, low + place, -1)
    return found


def _told(layout: Layout, rows: Array) -> tuple[Array, Array]:
    """What cuda_sync events say of these calls: the number of the stream waited for (_EMPTY_STREAM: one without any
    operation; _NOT_TOLD: nothing, or all streams) and the row of the EventRecord call (-1: none)."""
    syncs, ops = layout.trace.syncs, layout.ops
    stream, record = np.full(len(layout.begins), _NOT_TOLD), np.full(len(layout.begins), -1)
    number = {label: at for at, label in enumerate(ops.labels)}
    for call, device, name, awaited in zip(
        *(syncs[column].tolist() for column in ("call", "device", "stream", "awaited_correlation")), strict=True
    ):
        if call >= 0:
            stream[call] = _NOT_TOLD if name in _ALL_STREAMS else number.get((device, name), _EMPTY_STREAM)
            record[call] = layout.by_correlation.get(awaited, -1)
    return stream[rows], record[rows]


def _likely_stream(layout: Layout, last: Array, possible: Array) -> Array:
    """The stream each call waits for: the one whose last operation ended latest before the return. Where that was
    before the call began, any may be meant: this one hides a gain rather than invent one."""
    if not len(last):
        return np.full(last.shape[1], -1)
    likely: Array = np.where(possible, layout.ops.ends[last], _NONE).argmax(axis=0)
    return likely


def _event_ends(layout: Layout, rows: Array) -> Waits:
    """For event waits of which nothing is told: the operation that ended last while the call stood."""
    ops = layout.ops
    order = np.argsort(ops.ends, kind="stable")
    place = np.searchsorted(ops.ends[order], layout.returns[rows], side="left") - 1
    rows, op = rows[place >= 0], order[place[place >= 0]]
    fits = (ops.ends[op] > layout.begins[rows]) & (ops.enqueued[op] < layout.begins[rows])
    return Waits(rows[fits], op[fits], np.full(int(fits.sum()), EdgeKind.EVENT_SYNC))


def _frees(layout: Layout) -> Waits:
    """Releases of memory wait for the whole device; allocations where they returned as soon as it had drained."""
    calls = layout.trace.calls
    freeing = (calls["kind"] == CallKind.FREE) & ~named(layout.trace, calls, "Async")
    rows = np.flatnonzero((freeing | (calls["kind"] == CallKind.ALLOCATE)) & (layout.call_node >= 0))
    last = last_enqueued(layout, layout.begins[rows])
    ends = np.where(last >= 0, layout.ops.ends[last], _NONE).max(axis=0, initial=_NONE)
    duration = layout.returns[rows] - layout.begins[rows]
    usual = np.percentile(duration, 25) if len(rows) else 0
    drained = ends < layout.returns[rows]
    stood = (ends > layout.begins[rows]) & (layout.returns[rows] - ends <= usual) & (duration > STOOD_FACTOR * usual)
    keep = drained & (freeing[rows] | stood)
    at, which = np.nonzero((last >= 0) & keep)
    return Waits(rows[which], last[at, which], np.full(len(at), EdgeKind.ALLOCATION))


def _own_durations(layout: Layout, waiting: Array) -> Array:
    """Durations of all calls, those of `waiting` replaced by the median of the others of their name."""
    names = layout.trace.calls["name"]
    own = layout.returns - layout.begins
    free = layout.call_node >= 0
    free[waiting] = False
    for name in np.unique(names[waiting]):
        same = names == name
        others = own[same & free]
        chosen = waiting[names[waiting] == name]
        usual = int(np.median(others)) if len(others) else min(int(own[chosen].min()), _ASYNC_CALL_NS)
        own[chosen] = np.minimum(own[chosen], usual)
    return own


def _after_frees(layout: Layout, waits: Waits, own: Array) -> Array:
    """A release costs what it took after the device had drained."""
    freeing = waits.kind == EdgeKind.ALLOCATION
    call, op = waits.call[freeing], waits.op[freeing]
    drained = layout.begins.copy()
    np.maximum.at(drained, call, layout.ops.ends[op])
    after = own.copy()
    after[call] = layout.returns[call] - drained[call]
    return after


def _lags(layout: Layout, waits: Waits, own: Array) -> Array:
    """From the end of the operation to the return: the median of those that waited, by name of the call."""
    names = layout.trace.calls["name"][waits.call]
    ends = layout.ops.ends[waits.op]
    latest = np.full(len(layout.begins), _NONE)
    np.maximum.at(latest, waits.call, ends)
    binding = (ends > layout.begins[waits.call]) & (ends == latest[waits.call])
    since = layout.returns[waits.call] - ends
    lag = own[waits.call].copy()
    for name in np.unique(names):
        same = names == name
        if (same & binding).any():
            lag[same] = int(np.median(since[same & binding]))
    return np.where(waits.kind == EdgeKind.ALLOCATION, own[waits.call], lag)
