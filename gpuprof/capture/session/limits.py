"""How many events the profiler holds, guessed from the growth of the process: it keeps them all in memory to the end.

torch counts its events nowhere before the recording ends. Measured with torch 2.13 on 860,000 events: 220 bytes an
event while it records (515 with shapes and memory), 1,500 (4,750) once it has ended, at most 730,000 events a second.
"""

from __future__ import annotations

import time

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.units import NS_PER_S

MOST_EVENTS = 2_000_000
_BYTES, _BYTES_DETAILED = 220, 515
_BYTES_ENDED, _BYTES_ENDED_DETAILED = 1_500, 4_750
_MOST_EVENTS_PER_S = 730_000
_SHARE_OF_FREE = 0.5


class EventLimit:
    """Whether the recording has probably reached the events that this machine can take.

    That is two million, or fewer where twice their memory would not be free. The cell's own growth cannot be told
    from the profiler's, but no more of it is counted than the profiler could have caused in the same time.
    """

    def __init__(self, options: CaptureOptions):
        detailed = options.shapes or options.memory
        self._event_bytes = _BYTES_DETAILED if detailed else _BYTES
        self._ended_bytes = _BYTES_ENDED_DETAILED if detailed else _BYTES_ENDED
        self._most_events = MOST_EVENTS
        self.begin(0, 0)

    def begin(self, resident_bytes: int, free_bytes: int) -> None:
        """A recording begins with so much resident in the process and free in the machine (0: not known)."""
        self._base_bytes = self._last_bytes = resident_bytes
        self._last_ns = time.monotonic_ns()
        self._counted_bytes = 0.0
        if free_bytes:
            self._most_events = min(MOST_EVENTS, int(free_bytes * _SHARE_OF_FREE / self._ended_bytes))

    @property
    def events(self) -> int:
        """The guess: at most so many events are held."""
        return int(max(0.0, min(self._counted_bytes, self._last_bytes - self._base_bytes)) / self._event_bytes)

    def passed(self, resident_bytes: int, now_ns: int | None = None) -> bool:
        """Whether the limit is passed, with so much resident now (`time.monotonic_ns`)."""
        now_ns = time.monotonic_ns() if now_ns is None else now_ns
        possible = (now_ns - self._last_ns) / NS_PER_S * _MOST_EVENTS_PER_S * self._event_bytes
        self._counted_bytes += min(max(0, resident_bytes - self._last_bytes), possible)
        self._last_bytes, self._last_ns = resident_bytes, now_ns
        return self.events > self._most_events
