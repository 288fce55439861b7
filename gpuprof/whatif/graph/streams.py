"""The device's part of the graph: the operations of each stream in order, and what the device itself needs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.run.device_idle import LAUNCH_LATENCY_LIMIT_NS
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# Where a run shows no such pair or launch: the lower end of what recorded runs show (docs/design/whatif.md).
USUAL_STREAM_GAP_NS = 1_000
USUAL_LAUNCH_LAG_NS = 6_000
# Longer gaps of a queue that is not empty are waits for something else: 13 µs is the longest seen with a copy.
LONGEST_STREAM_GAP_NS = 25_000
_COLLECTIVE = 3
_KINDS = 4


@dataclass(frozen=True, eq=False)
class Operations:
    """Device operations, stream by stream in order of begin; arrays of shape `(operations,)`, times in ns.

    `events` rows of device_events; `call` row of the call of a host chain that enqueued it, -1 if unknown; `enqueued`
    when that call began, never falling along a stream; `stream` number of the stream, ascending; `first` masks the
    first of each stream; `kind` DeviceEventKind, 3 for a collective; `labels` the (device, stream) of each number.
    """

    events: Array
    call: Array
    stream: Array
    starts: Array
    ends: Array
    enqueued: Array
    first: Array
    kind: Array
    labels: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.events)

    @property
    def previous_end(self) -> Array:
        """End of the operation before on the same stream; its own begin for the first of a stream."""
        before = np.concatenate(([0], self.ends[:-1]))
        return np.where(self.first, self.starts, before)

    @property
    def device(self) -> Array:
        """Device id of each operation."""
        return np.array([device for device, _ in self.labels], np.int64)[self.stream]

    def bounds(self, stream: int) -> tuple[int, int]:
        """First and last + 1 of the stream's operations."""
        low, high = np.searchsorted(self.stream, [stream, stream + 1])
        return int(low), int(high)


def operations(trace: Trace, inside: Array, outer: Array) -> Operations:
    """The operations masked by `inside`, shape `(len(device_events),)`; `outer` as from host.outer_calls."""
    events, calls = trace.device_events, trace.calls
    rows = np.flatnonzero(inside)
    rows = rows[np.lexsort((events["start_ns"][rows], events["stream"][rows], events["device"][rows]))]
    device, number = events["device"][rows], events["stream"][rows]
    first = np.concatenate(([True], (np.diff(device) != 0) | (np.diff(number) != 0)))[: len(rows)]
    stream = np.cumsum(first) - 1
    linked = events["call"][rows]
    call = picked(outer, linked)
    starts = events["start_ns"][rows]
    launched = np.where(call >= 0, calls["start_ns"][call], np.iinfo(np.int64).min) if len(calls) else starts
    kind = np.where(events["collective"][rows], _COLLECTIVE, events["kind"][rows])
    labels = tuple(zip(device[first].tolist(), number[first].tolist(), strict=True))
    return Operations(
        rows, call, stream, starts, starts + events["duration_ns"][rows], _rising(launched, first), first, kind, labels
    )


def _rising(values: Array, first: Array) -> Array:
    """Running maximum within each stream."""
    rising = values.copy()
    bounds = np.append(np.flatnonzero(first), len(values))
    for low, high in itertools.pairwise(bounds.tolist()):
        rising[low:high] = np.maximum.accumulate(values[low:high])
    return rising


def launch_lags(ops: Operations) -> Array:
    """For each operation the ns from its call's begin to its own that the device needs at least: the 25th percentile,
    by kind, over launches that found their stream idle (longer lags than any recorded run shows are waits); int64."""
    lag = ops.starts - ops.enqueued
    idle = (ops.call >= 0) & (ops.first | (ops.previous_end <= ops.enqueued)) & (lag > 0)
    idle &= lag <= LAUNCH_LATENCY_LIMIT_NS
    every = _percentile(lag[idle], 25, USUAL_LAUNCH_LAG_NS)
    by_kind = np.array([_percentile(lag[idle & (ops.kind == kind)], 25, every) for kind in range(_KINDS)], np.int64)
    return by_kind[ops.kind]


def stream_gaps(ops: Operations) -> Array:
    """For each operation the ns from the end of the one before on its stream: the median by pair of kinds while the
    queue was not empty; as recorded where the two overlap, 0 for the first of a stream; int64."""
    gap = ops.starts - ops.previous_end
    queued = ~ops.first & (ops.call >= 0) & (ops.enqueued + USUAL_LAUNCH_LAG_NS <= ops.previous_end)
    queued &= (gap >= 0) & (gap <= LONGEST_STREAM_GAP_NS)
    pair = np.concatenate(([0], ops.kind[:-1])) * _KINDS + ops.kind
    every = _percentile(gap[queued], 50, USUAL_STREAM_GAP_NS)
    usual = np.array([_percentile(gap[queued & (pair == each)], 50, every) for each in range(_KINDS**2)], np.int64)
    gaps: Array = np.where(ops.first, 0, np.minimum(usual[pair], np.where(gap < 0, gap, usual[pair])))
    return gaps


def _percentile(values: Array, percent: float, otherwise: int) -> int:
    return int(np.percentile(values, percent)) if len(values) else otherwise
