"""How much of the resident memory of the process is the recorder's own."""

from __future__ import annotations

import numpy as np

from gpuprof.model.event_cost import SAVE_NS, EventCost
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_EVENTS = ("operators", "user_ranges", "calls", "device_events", "frames")
# ending and saving may take so many times as long as was measured
_SLOWER = 3
# one look and one reading of memory may be so far apart
_LOOK_NS = 100_000_000


def recorder_bytes(trace: Trace, times: Array, held: Array) -> Array:
    """Of the resident bytes `held` at `times` (Unix, ascending; both of shape (n,)) what the profiler's events take.

    While it records it is no more than the events so far take of heap; when it ends, what they take then. A process
    that grew by less has not grown by it, and what is freed afterwards is taken to be the recorder's first. An earlier
    recording that was discarded took what its events take once they have ended, of which the growth of the process then
    tells how many there were; before its end no more than the heap of those that it had by then, if they came evenly.
    """
    window = trace.context.window
    own = np.zeros(len(times), np.int64)
    if window is None or not window.end_ns or len(times) < 2:
        return own
    ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
    begun = np.sort(np.concatenate([trace.tables[name]["start_ns"] for name in _EVENTS])) - ahead_ns
    options = trace.context.options
    details = bool(options.get("shapes") or options.get("memory"))
    cost = EventCost.of(stacks=bool(options.get("stacks")), details=details)
    count, earlier = np.searchsorted(begun, times), _discarded_bytes(trace, cost, times)
    ended_ns = window.end_ns + _SLOWER * len(begun) * (cost.stop_ns + SAVE_NS)
    for at in range(1, len(times)):
        grown = int(held[at] - held[at - 1])
        if times[at - 1] > ended_ns:
            most = 0
        elif times[at] > window.end_ns:
            most = int(earlier[at]) + cost.ended_bytes * len(begun)
        else:
            most = int(earlier[at]) + cost.heap_bytes * int(count[at])
        taken = min(max(grown, 0), max(most - int(own[at - 1]), 0))
        own[at] = own[at - 1] + taken + max(min(grown, 0), -int(own[at - 1]))
    return own


def _discarded_bytes(trace: Trace, cost: EventCost, times: Array) -> Array:
    """At most, at each time. How many events it had is taken from what its end took, which the process was seen to grow
    by: the count itself may hold tensors of the cell, or miss events where tensors were freed meanwhile."""
    known = (trace.context.sampling.get(name) for name in ("discarded_events", "discarded_bytes", "discarded_ns"))
    counted, grown, ended_ns = (each if isinstance(each, int) and each > 0 else 0 for each in known)
    window = trace.context.window
    if not ended_ns or window is None or ended_ns <= window.cell_start_ns:
        # of before this was noted
        return np.full(len(times), max(cost.ended_bytes * counted, grown), np.int64)
    events = grown // (cost.ended_bytes - cost.heap_bytes)
    ended = np.full(len(times), cost.ended_bytes * events, np.int64)
    so_far = np.clip((times - window.cell_start_ns) / (ended_ns - window.cell_start_ns), 0.0, 1.0)
    running = np.minimum(cost.heap_bytes * events * so_far, ended).astype(np.int64)
    return np.where(times < ended_ns - _LOOK_NS, running, ended)
