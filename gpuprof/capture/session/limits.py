"""How many events the profiler holds, from the growth of the heap: it keeps them all in memory to the end.

torch counts its events nowhere before the recording ends. What one takes stands in `gpuprof/model/event_cost.py`.
"""

from __future__ import annotations

import statistics
import time

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.model.event_cost import EventCost
from gpuprof.units import NS_PER_S

MOST_EVENTS = 600_000
MOST_BYTES = 900 * 1024**2
MOST_STOP_NS = 3 * NS_PER_S
_FEWEST_EVENTS = 100_000
# 730,000 and 1,600,000 a second were measured, on two machines, and tensors often grow as fast
_USUAL_EVENTS_PER_S, _MOST_EVENTS_PER_S = 730_000, 3_200_000
# growth that events could just make, and that has not been given back while the process ran for so long, or for a step
# and a half, is theirs
_HELD_NS = NS_PER_S // 2
_HELD_STEPS = 1.5
_SHARE_OF_FREE = 0.5
# of the machine's free memory, held but not used
_UNUSED_SHARE_OF_FREE = 1 / 8
_LEAST_UNUSED_BYTES, _MOST_UNUSED_BYTES = 1024**3, 4 * 1024**3
# A heap that falls by this share of what it rose holds the cell's own tensors or graph.
_BREATHES = 0.25
_PATIENCE = 10
# Growth that fast is tensors: beside them there is no time for many events.
_TENSORS = 1.3
# The first operators on a device load libraries and kernels, 150 to 450 MB that stay (H100, CUDA 13). A launch takes
# 5 µs of the host or more, and is two events.
_DEVICE_START_NS = 3 * NS_PER_S
_DEVICE_EVENTS_PER_S = 400_000


class UnusedHeap:
    """Whether the recording fragments the heap: memory that the process holds and nobody uses.

    torch's profiler keeps its records on the heap, between large tensors that come and go. The next tensor finds no
    room there, and takes new memory: with tensors of 16 MB a process of 0.7 GB grew to 12.6 GB, and steps took 12 times
    as long, by page faults.
    """

    def __init__(self) -> None:
        self._base_bytes, self._most_bytes = 0, _MOST_UNUSED_BYTES

    def begin(self, resident_bytes: int, in_use_bytes: int, free_bytes: int) -> None:
        """A recording begins; `free_bytes` of the machine, 0: not known."""
        self._base_bytes = max(resident_bytes - in_use_bytes, 0)
        part = int(free_bytes * _UNUSED_SHARE_OF_FREE)
        self._most_bytes = (
            min(max(part, _LEAST_UNUSED_BYTES), _MOST_UNUSED_BYTES) if free_bytes else _LEAST_UNUSED_BYTES
        )

    def passed(self, resident_bytes: int, in_use_bytes: int) -> bool:
        """Whether it has grown past the limit."""
        return resident_bytes - in_use_bytes - self._base_bytes > self._most_bytes


class RecordingGaps:
    """How far the process grew beyond what it allocated: `bytes`, at most, of free pieces between the profiler's
    records. The cell's own free memory, of which it had more in use for less than the time between two looks, counts as
    well. `discarded_bytes`: by how much it grew when a recording ended that another one took the place of, and
    `discarded_ns` the Unix time of the look that saw it; 0 where there was none."""

    def __init__(self) -> None:
        self.bytes = self.discarded_bytes = self._ended_bytes = 0
        self.discarded_ns = self._ended_ns = 0
        self._base = self._most = (0, 0)
        self._runs = False

    def begin(self, resident_bytes: int, allocated_bytes: int) -> None:
        """A recording begins."""
        self.ended(resident_bytes)
        self.discarded_bytes, self._runs = max(self.discarded_bytes, self._ended_bytes), True
        self.discarded_ns = self._ended_ns
        self.bytes, self._base = 0, (resident_bytes, allocated_bytes)
        self._most = self._base

    def note(self, resident_bytes: int, allocated_bytes: int) -> None:
        """While it runs."""
        self._most = max(self._most[0], resident_bytes), max(self._most[1], allocated_bytes)
        grown, used = (most - base for most, base in zip(self._most, self._base, strict=True))
        self.bytes = max(grown - used, 0)

    def ended(self, resident_bytes: int) -> None:
        """None runs: the first look after one has ended shows what ending it took."""
        if self._runs:
            self._ended_bytes, self._runs = max(resident_bytes - self._most[0], 0), False
            self._ended_ns = time.time_ns()


class EventLimit:
    """Whether the recording holds as many events as it may: by memory, by the time to end it, by free memory.

    The cell's own memory is told apart by when it comes and goes. Growth faster than the profiler can cause is the
    cell's; where it could just cause it, it is the cell's as long as it is given back soon. At the end of a step the
    activations are freed: from one end to the next the heap grows by the events. Until two ends are known, one end, or
    a heap that has been seen to fall, shows that the growth may be the cell's: then the limit waits for the next end
    until the profiler could have made several times as many events. For some seconds after a device is first seen in
    use, growth that is fast and stays is what its libraries load.
    """

    def __init__(self, options: CaptureOptions):
        self._cost = EventCost.of(stacks=options.stacks, details=options.shapes or options.memory)
        self._rose = self._fell = 0
        # the most that a recording had which another one took the place of
        self.discarded_events = 0
        self._begin(0, 0)

    def begin(
        self, heap_bytes: int, free_bytes: int, now_ns: int | None = None, *, step_ns: float | None = None
    ) -> None:
        """A recording begins with so much heap in use in the process and free in the machine (0: not known), and with
        steps of that length (None: none was seen)."""
        self.discarded_events = max(self.discarded_events, self.events)
        self._begin(heap_bytes, free_bytes, now_ns, step_ns=step_ns)

    def _begin(
        self, heap_bytes: int, free_bytes: int, now_ns: int | None = None, *, step_ns: float | None = None
    ) -> None:
        self._base_bytes = self._last_bytes = heap_bytes
        self._jumped_bytes = self._doubtful_bytes = 0
        self._doubtful_for_ns, self._events_per_s = 0, _USUAL_EVENTS_PER_S
        self._held_ns = max(_HELD_NS, int(_HELD_STEPS * (step_ns or 0)))
        self._began_ns = self._last_ns = time.monotonic_ns() if now_ns is None else now_ns
        self._last_ran_ns = time.process_time_ns() if now_ns is None else now_ns
        self._last_end: int | None = None
        self._grown: list[float] = []
        self._looked_step = self._first_looked_step = 0
        self._two_ends, self._step_bytes = False, 0
        self._device_from_ns: int | None = None
        most = min(MOST_EVENTS, MOST_BYTES // self._cost.ended_bytes, MOST_STOP_NS // self._cost.stop_ns)
        if free_bytes:
            most = min(most, int(free_bytes * _SHARE_OF_FREE / self._cost.ended_bytes))
        self.most_events = most

    @property
    def events(self) -> int:
        """The estimate of how many events are held."""
        return max(0, self._held_bytes) // self._cost.heap_bytes

    def events_of_steps(self, step: int) -> int:
        """The estimate of how many events came between the first end of a step that was looked at and the end of
        `step`, counted as in `step_ended`.

        It uses the median growth per step, because a cell may suddenly free large memory. A heap with many free pieces
        is rarely looked at, so steps since the last look count too.
        """
        usual = statistics.median(self._grown) if self._grown else 0
        return int(max(0, usual) * (step - self._first_looked_step)) // self._cost.heap_bytes

    def step_ended(self, heap_bytes: int, now_ns: int | None = None, *, step: int) -> None:
        """A step has ended, with so much heap in use now (`time.monotonic_ns`). `step`: how many have."""
        self._doubtful_bytes = 0
        before, self._looked_step = self._looked_step, step
        if self._last_end is not None:
            self._grown.append((heap_bytes - self._last_end) / max(self._looked_step - before, 1))
            longest = self._step_bytes if self._two_ends else 0
            self._step_bytes = max(longest, heap_bytes - self._last_end)
            self._jumped_bytes, self._two_ends, self._last_end = 0, True, heap_bytes
            return
        self._step_bytes = max(0, heap_bytes - self._base_bytes)
        self._first_looked_step = self._looked_step
        # a first step also makes gradients and the optimizer's state: at most half of the limit is put down to it
        self._base_bytes = heap_bytes - min(self._step_bytes, self.most_events * self._cost.heap_bytes // 2)
        self._jumped_bytes, self._last_end = 0, heap_bytes
        self._began_ns = time.monotonic_ns() if now_ns is None else now_ns

    def passed(
        self, heap_bytes: int, now_ns: int | None = None, ran_ns: int | None = None, *, device: bool = False
    ) -> bool:
        """Whether the limit is passed, with so much heap in use now (`time.monotonic_ns`), where the process has had
        so much processor time (`time.process_time_ns`; None: as much as the clock). `device`: one is in use."""
        if now_ns is None:
            now_ns, ran_ns = time.monotonic_ns(), time.process_time_ns()
        ran_ns = now_ns if ran_ns is None else ran_ns
        if device and self._device_from_ns is None:
            self._device_from_ns = self._last_ns
        grown, possible = heap_bytes - self._last_bytes, self._possible(now_ns - self._last_ns)
        # what jumped up too fast to be events, less what of it has been freed
        self._jumped_bytes += _jump(grown, possible) if grown > 0 else -min(-grown, self._jumped_bytes)
        self._doubt(grown, now_ns, min(now_ns - self._last_ns, ran_ns - self._last_ran_ns))
        self._rose += max(0, grown)
        self._fell += max(0, -grown)
        self._last_bytes, self._last_ns, self._last_ran_ns = heap_bytes, now_ns, ran_ns
        if self.events <= self.most_events:
            return False
        if self._two_ends or (self._last_end is None and self._fell < _BREATHES * self._rose):
            return True
        patience = _PATIENCE if self._last_end is None else 2 * _PATIENCE
        return self._possible(now_ns - self._began_ns) > patience * self.most_events * self._cost.heap_bytes

    def _doubt(self, grown: int, now_ns: int, ran_ns: int) -> None:
        """Take what events could just have made for theirs, where it is not given back while the process runs."""
        most = (now_ns - self._last_ns) * _MOST_EVENTS_PER_S // NS_PER_S * self._cost.heap_bytes
        if grown < 0:
            self._doubtful_bytes = max(self._doubtful_bytes + grown, 0)
            if -grown >= _BREATHES * self._doubtful_bytes:
                self._doubtful_bytes = 0
        elif grown <= most and self._jumped_bytes and not self._device_starts:
            if not self._doubtful_bytes:
                self._doubtful_for_ns = -ran_ns
            self._doubtful_bytes += grown
        self._doubtful_for_ns += ran_ns
        if self._doubtful_bytes and self._doubtful_for_ns >= self._held_ns:
            self._jumped_bytes = max(self._jumped_bytes - self._doubtful_bytes, 0)
            self._doubtful_bytes, self._events_per_s = 0, _MOST_EVENTS_PER_S

    def _possible(self, time_ns: int) -> int:
        """Most bytes of heap that events take in that time, by what is known of their pace."""
        pace = min(self._events_per_s, _DEVICE_EVENTS_PER_S) if self._device_starts else self._events_per_s
        return time_ns * pace // NS_PER_S * self._cost.heap_bytes

    @property
    def _device_starts(self) -> bool:
        return self._device_from_ns is not None and self._last_ns - self._device_from_ns < _DEVICE_START_NS

    @property
    def _held_bytes(self) -> int:
        if self._last_end is None:
            return self._last_bytes - self._base_bytes - self._jumped_bytes
        # within a step the heap holds activations too: no more counts than a step has been seen to add
        since = min(max(self._last_bytes - self._last_end - self._jumped_bytes, 0), 2 * self._step_bytes)
        return self._last_end - self._base_bytes + since


def _jump(grown_bytes: int, possible_bytes: int) -> int:
    """What of the growth between two looks cannot be events."""
    if grown_bytes > _TENSORS * possible_bytes:
        return grown_bytes
    return max(grown_bytes - possible_bytes, 0)
