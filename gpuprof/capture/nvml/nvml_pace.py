"""How often to reading: the asked rate, halved for as long as sampling costs more than a hundredth of the time."""

from __future__ import annotations

import math
import sys
import time

NS = 1_000_000_000

_PROBE_S = 0.000_1
_SHORTEST_WAIT_NS = 500_000


def interpreter_wait_ns() -> int:
    """How long this thread now waits for the interpreter's lock after giving it up for a tenth of a millisecond.

    0 below half a millisecond, where it cannot be told from the system's timer. Beside a busy Python thread it is
    `sys.getswitchinterval()` (5 ms), and it falls on every driver call too without costing that thread anything.
    Two such intervals at most: what goes beyond is not this wait.
    """
    before = time.perf_counter_ns()
    time.sleep(_PROBE_S)
    waited = time.perf_counter_ns() - before - int(_PROBE_S * NS)
    return min(waited, int(2 * sys.getswitchinterval() * NS)) if waited >= _SHORTEST_WAIT_NS else 0


class Pace:
    """The timetable of one sampler. All times are perf_counter ns.

    A tick that comes late is not made up for: the next one is the first of the timetable that still lies ahead, so a
    long stall leaves a gap, never a burst. `wait_per_call_ns` is the longest `interpreter_wait_ns` of the window.
    """

    most_share = 0.01  # of wall time: where a profiler's own work starts to show in step times
    slowest_hz = 0.5
    window_ns = NS

    def __init__(self, hz: float, now_ns: int):
        self.hz = hz
        self.halvings = 0
        self.ticks = 0
        self._origin_ns = now_ns
        self._first_tick_ns: int | None = None
        self._last_tick_ns = now_ns
        self._window_start_ns = now_ns
        self._window_ticks = 0
        self._cpu_ns = 0
        self.wait_per_call_ns = 0
        self._cost_ns = 0
        self._counted_ns = 0

    @property
    def slow_every(self) -> int:
        """A slow metric is read at every so many ticks: about once a second."""
        return max(1, round(self.hz))

    @property
    def hz_reached(self) -> float | None:
        """Ticks a second from the first one to the end; None before the second."""
        if self._first_tick_ns is None or self.ticks < 2 or self._last_tick_ns <= self._first_tick_ns:
            return None
        return (self.ticks - 1) * NS / (self._last_tick_ns - self._first_tick_ns)

    @property
    def cost_share(self) -> float | None:
        """Cost over wall time since the first tick's window began; None before any was counted."""
        return self._cost_ns / self._counted_ns if self._counted_ns else None

    def close(self, now_ns: int) -> None:
        """The end: the time since the last tick counts too, or a slowed sampler would seem fast."""
        self._last_tick_ns = now_ns

    def tick(self, now_ns: int) -> None:
        """A tick begins."""
        if self._first_tick_ns is None:
            self._first_tick_ns = now_ns
        self._last_tick_ns = now_ns
        self.ticks += 1
        self._window_ticks += 1

    def wait_ns(self, now_ns: int) -> int:
        """How long to sleep until the next tick of the timetable, always more than 0."""
        interval = NS / self.hz
        passed = math.floor((now_ns - self._origin_ns) / interval)
        return max(1, self._origin_ns + math.ceil((passed + 1) * interval) - now_ns)

    def window_full(self, now_ns: int) -> bool:
        """Whether it is time to settle the cost: a second has passed, with three ticks in it."""
        return now_ns - self._window_start_ns >= self.window_ns and self._window_ticks >= 3

    def worked(self, cpu_ns: int, wait_ns: int) -> None:
        """Add one tick's processor time of the sampler's thread, and its `interpreter_wait_ns`."""
        self._cpu_ns += cpu_ns
        self.wait_per_call_ns = max(self.wait_per_call_ns, wait_ns)

    def settle(self, now_ns: int, driver_ns: int) -> None:
        """Close the window: halve the rate as often as it takes to come under `most_share`.

        Its cost is the time in driver calls or the thread's processor time, whichever is more: they overlap.
        """
        length = now_ns - self._window_start_ns
        cost_ns = max(driver_ns, self._cpu_ns)
        self._window_start_ns, self._window_ticks, self._cpu_ns, self.wait_per_call_ns = now_ns, 0, 0, 0
        if length <= 0:
            return
        self._cost_ns += cost_ns
        self._counted_ns += length
        share = cost_ns / length
        while share > self.most_share and self.hz / 2 >= self.slowest_hz:
            self.halve()
            share /= 2

    def halve(self) -> None:
        """Half the rate from now on."""
        self.hz /= 2
        self.halvings += 1
