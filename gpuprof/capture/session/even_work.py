"""When a cell without steps has been recorded for long enough: it has made events evenly for a while."""

from __future__ import annotations

import numpy as np

from gpuprof.units import NS_PER_S

_LEAST_NS = 3 * NS_PER_S
_LEAST_EVENTS = 600
_PARTS = 4
# of the events, in each quarter of the time: loading a model or reading files comes before the work, not beside it
_LEAST_SHARE = 0.15


class EvenWork:
    """Notes, about ten times a second, how many events a recording is thought to hold."""

    def __init__(self) -> None:
        self._times_ns: list[int] = []
        self._events: list[int] = []

    def begin(self) -> None:
        """A recording begins."""
        self._times_ns, self._events = [], []

    def note(self, now_ns: int, events: int) -> bool:
        """Note the estimate; True where the last three seconds or more were even. What came before does not count."""
        self._times_ns.append(now_ns)
        self._events.append(events)
        ago_ns = now_ns - _LEAST_NS
        if self._times_ns[0] > ago_ns:
            return False
        times = np.linspace(ago_ns, now_ns, _PARTS + 1)
        held = np.interp(times, self._times_ns, np.maximum.accumulate(self._events))
        made = np.diff(held)
        return bool(made.sum() >= _LEAST_EVENTS and made.min() >= _LEAST_SHARE * made.sum())
