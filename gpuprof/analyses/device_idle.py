"""Why the device was idle: every idle nanosecond gets exactly one cause, the first of these that holds.

idle_outside_steps  Steps are known and the instant lies in none of them.
idle_launch         Work had been launched and had not begun: from the begin of its launching call to its own begin. It
                    includes the short pauses between queued kernels, which no change of the host's code removes.
idle_input          The main host thread is inside the DataLoader's `__next__`.
idle_sync           The price of a sync wait. The host is blocked on the device, or has been: a wait of W ns holds the
                    host back by W, so without it the next launches would have come up to W earlier. Each wait hence
                    claims the first W ns of idle time from its begin on (idle time with another cause counts against
                    it), at most until the next wait. What remains idle beyond W is not the wait's fault.
idle_host           The host had launched nothing: the gap ends with work whose launch began after the gap did, or it
                    is the one after the last work of a run whose launches were recorded.
idle_unexplained    The rest: the gap ends with work whose launch was not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.device_activity import DeviceActivity
from gpuprof.analyses.host_marks import launching, outside_steps
from gpuprof.analyses.phases import Phases
from gpuprof.analyses.result import Result, Results
from gpuprof.analyses.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Column, Table, TableSchema
from gpuprof.model.trace import Trace

CAUSES = ("idle_outside_steps", "idle_launch", "idle_input", "idle_sync", "idle_host", "idle_unexplained")

GAPS = TableSchema(
    "gaps",
    "one idle interval of the first device",
    (
        Column("start_ns", "int64", "ns", "when the device fell idle"),
        Column("end_ns", "int64", "ns", "when it began to work again"),
        Column("cause", "uint8", "index of CAUSES", "the cause of the largest part of it"),
    ),
)


@dataclass(frozen=True, eq=False)
class DeviceIdle(Result):
    """The idle time of the first device by cause.

    `gaps`: see GAPS. `parts`: for each of CAUSES the idle time it explains, disjoint unions that add up to the idle
    time exactly; `by_cause` their lengths in ns. Without device activity `device` is None, `gaps` and both mappings
    are empty.
    """

    device: int | None
    gaps: Table
    parts: Mapping[str, Intervals]
    by_cause: Mapping[str, int]

    @property
    def total_ns(self) -> int:
        """All idle time of the device in ns."""
        return sum(self.by_cause.values())

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device events, their launches, the sync waits, the DataLoader's ranges and the steps."""
        device = results.get(DeviceActivity).primary
        if device is None:
            return cls(None, Table(GAPS), {}, {})
        idle = intervals.complement(device.busy, trace.span_start_ns, trace.span_end_ns)
        linked = _linked_events(trace, device.id)
        claims = [
            ("idle_outside_steps", outside_steps(trace)),
            ("idle_launch", _launched_not_begun(trace, linked)),
            ("idle_input", results.get(Phases).input),
            ("idle_sync", _sync_claims(intervals.union(intervals.of(results.get(SyncWaits).table)), idle)),
            ("idle_host", _waiting_for_a_launch(trace, linked, idle)),
        ]
        parts = intervals.partition(idle, claims)
        parts["idle_unexplained"] = parts.pop("")
        parts = {cause: parts[cause] for cause in CAUSES}
        return cls(device.id, _gaps(idle, parts), parts, {cause: part.total_ns for cause, part in parts.items()})


def _linked_events(trace: Trace, device: int) -> Table:
    events = trace.device_events
    return events.take((events["device"] == device) & (events["call"] >= 0))


def _launched_not_begun(trace: Trace, linked: Table) -> Intervals:
    return intervals.union(Intervals(trace.calls["start_ns"][linked["call"]], linked["start_ns"]))


def _sync_claims(waits: Intervals, idle: Intervals) -> Intervals:
    """Each wait claims, from its begin on, as much idle time as it lasted, at most until the next wait."""
    if not len(waits.starts) or not len(idle.starts):
        return intervals.EMPTY
    lengths = idle.ends - idle.starts
    before = np.concatenate(([0], np.cumsum(lengths)))
    origin = np.full(len(waits.starts), idle.starts[0])
    spent = intervals.covered(idle, np.minimum(origin, waits.starts), waits.starts)
    target = spent + (waits.ends - waits.starts)
    row = np.minimum(np.searchsorted(before, target, side="left"), len(lengths)) - 1
    reached = idle.starts[row] + np.minimum(target - before[row], lengths[row])
    stop = np.concatenate((waits.starts[1:], [max(int(idle.ends[-1]), int(waits.ends[-1]))]))
    return intervals.union(Intervals(waits.starts, np.minimum(np.maximum(reached, waits.ends), stop)))


def _waiting_for_a_launch(trace: Trace, linked: Table, idle: Intervals) -> Intervals:
    """Gaps that end with an event whose launch is known, and the one after the last event where launches are."""
    known = np.isin(idle.ends, linked["start_ns"])
    if launching(trace.calls).any():
        known |= idle.ends == trace.span_end_ns
    return Intervals(idle.starts[known], idle.ends[known])


def _gaps(idle: Intervals, parts: Mapping[str, Intervals]) -> Table:
    amounts = np.stack([intervals.covered(parts[cause], idle.starts, idle.ends) for cause in CAUSES])
    return Table(GAPS, {"start_ns": idle.starts, "end_ns": idle.ends, "cause": amounts.argmax(axis=0)})
