"""Why the device was idle: every idle nanosecond gets exactly one cause, the first of these that holds.

idle_outside_steps  Steps are known and the instant lies in none of them.
idle_launch         The work that ends the gap had been launched and had not begun: from the begin of the launching call
                    on, and at most LAUNCH_LATENCY_LIMIT_NS after that call returned (or after the device fell idle, if
                    that was later). It includes the pauses between queued kernels.
idle_compile        torch.compile compiles, on the main host thread or autograd's, and the work that ends the gap had
                    not been launched.
idle_input          The main host thread is inside the DataLoader's `__next__`.
idle_sync           The price of the sync waits. A wait of W ns holds the host back by W: without the waits so far it
                    would be ahead of where it is by their sum, less the idle time that this lead would already have
                    filled. Idle time is theirs while that lead lasts. The lead is never more than the device needs for
                    LAUNCH_QUEUE pieces of work, since the host cannot run further ahead than that. (Idle time within
                    a wait that has another cause, such as the start-up of a first copy, makes no lead.) After the last
                    work there is none to be launched earlier.
idle_host           The host had not yet launched the work that ends the gap, or, after the last work, launched none.
idle_unrecorded     At the start of the recording, before more than FIRST_WORK pieces of work: what ends the gap had
                    been launched more than LAUNCH_LATENCY_LIMIT_NS ago, and nothing that was recorded ran. The device
                    was busy with what had been launched before the recording.
idle_unexplained    The rest: the work that ends the gap has no recorded launch, or had been launched long before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.host_marks import launching, outside_steps
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

CAUSES = (
    "idle_outside_steps",
    "idle_launch",
    "idle_compile",
    "idle_input",
    "idle_sync",
    "idle_host",
    "idle_unrecorded",
    "idle_unexplained",
)

# Between queued work, or between a launch's return and its work's begin, recorded runs (V100 to MI300X) show at most
# 24 µs and 84 µs while the device is free; longer pauses mean that something unrecorded stood in the way.
LAUNCH_LATENCY_LIMIT_NS = 100_000
# A copy or a small kernel may run on another stream while the queue drains.
FIRST_WORK = 8
# Launches that fit in the device's queue before the next one blocks (docs/design/whatif.md, "launch queue").
LAUNCH_QUEUE = 1_020

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
        begin, end, known = _launches_of_gaps(trace, device.id, idle)
        waiting = Intervals(idle.starts, begin)
        claims = [
            ("idle_outside_steps", outside_steps(trace)),
            ("idle_launch", Intervals(begin, np.minimum(idle.ends, end + LAUNCH_LATENCY_LIMIT_NS))),
            ("idle_compile", intervals.intersect(results.get(CompileEvents).everywhere, intervals.union(waiting))),
            ("idle_input", results.get(Phases).input),
            (
                "idle_sync",
                _filled_by_a_lead(
                    results.get(SyncWaits), idle, _before_work(trace, waiting), _longest_lead(trace, device)
                ),
            ),
            ("idle_host", Intervals(waiting.starts[known], waiting.ends[known])),
            ("idle_unrecorded", _before_the_first_work(trace, device, Intervals(end[known], idle.ends[known]))),
        ]
        parts = intervals.partition(idle, claims)
        parts["idle_unexplained"] = parts.pop("")
        parts = {cause: parts[cause] for cause in CAUSES}
        return cls(device.id, _gaps(idle, parts), parts, {cause: part.total_ns for cause, part in parts.items()})


def _launches_of_gaps(trace: Trace, device: int, idle: Intervals) -> tuple[Array, Array, Array]:
    """For each gap, clipped to it, the begin and the end of the call that launched the work ending the gap, and a mask:
    the launch is known, or the gap is the last of a run whose launches were recorded. Elsewhere both are its end."""
    events, calls = trace.device_events, trace.calls
    linked = events.take((events["device"] == device) & (events["call"] >= 0))
    called = calls["start_ns"][linked["call"]]
    order = np.lexsort((called, linked["start_ns"]))
    starts = linked["start_ns"][order]
    place = np.searchsorted(starts, idle.ends)
    known = place < len(starts)
    known[known] = starts[place[known]] == idle.ends[known]
    begin, end = idle.ends.copy(), idle.ends.copy()
    row = order[place[known]]
    begin[known] = called[row]
    end[known] = begin[known] + calls["duration_ns"][linked["call"][row]]
    if launching(calls).any():
        known |= idle.ends == trace.span_end_ns
    return np.clip(begin, idle.starts, idle.ends), np.clip(end, idle.starts, idle.ends), known


def _before_the_first_work(trace: Trace, device: DeviceTotals, queued: Intervals) -> Intervals:
    begins = np.sort(trace.device_events["start_ns"][trace.device_events["device"] == device.id])
    first = queued.starts < begins[min(FIRST_WORK, len(begins) - 1)]
    return Intervals(queued.starts[first], queued.ends[first])


def _before_work(trace: Trace, waiting: Intervals) -> Intervals:
    """The waiting that ends with work of the device: what comes after a last read was not launched too late."""
    chosen = waiting.ends < trace.span_end_ns
    return intervals.union(Intervals(waiting.starts[chosen], waiting.ends[chosen]))


def _longest_lead(trace: Trace, device: DeviceTotals) -> int:
    events = int((trace.device_events["device"] == device.id).sum())
    return LAUNCH_QUEUE * device.busy_ns // max(events, 1)


def _filled_by_a_lead(waits: SyncWaits, idle: Intervals, waiting: Intervals, longest_ns: int) -> Intervals:
    """The part of `waiting` that the host would have filled if it had never waited.

    `waiting` is the part of `idle` in which the work to come had not been launched; both are unions.
    """
    blocked = intervals.union(intervals.of(waits.table))
    if not len(blocked.starts) or not len(waiting.starts):
        return intervals.EMPTY
    until = np.concatenate(([0], np.cumsum(waiting.ends - waiting.starts)))
    origin = np.full(len(blocked.starts), min(blocked.starts[0], waiting.starts[0]))
    at_wait = intervals.covered(waiting, origin, blocked.starts)
    left = np.diff(at_wait, append=until[-1])
    within = intervals.covered(waiting, *blocked)
    gained = blocked.ends - blocked.starts - (intervals.covered(idle, *blocked) - within)
    filled, lead = [], 0
    for gain, inside, until_next_wait in zip(gained.tolist(), within.tolist(), left.tolist(), strict=True):
        lead = max(min(lead + gain, longest_ns), inside)
        filled.append(min(lead, until_next_wait))
        lead -= filled[-1]
    target = at_wait + np.array(filled, np.int64)
    piece = np.maximum(np.searchsorted(until, target, side="left"), 1) - 1
    stop = waiting.starts[piece] + target - until[piece]
    return intervals.intersect(waiting, intervals.union(Intervals(blocked.starts, stop)))


def _gaps(idle: Intervals, parts: Mapping[str, Intervals]) -> Table:
    amounts = np.stack([intervals.covered(parts[cause], idle.starts, idle.ends) for cause in CAUSES])
    return Table(GAPS, {"start_ns": idle.starts, "end_ns": idle.ends, "cause": amounts.argmax(axis=0)})
