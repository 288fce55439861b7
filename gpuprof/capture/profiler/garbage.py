"""Notes when Python's garbage collector stopped the cell, and for how long."""

from __future__ import annotations

import gc
import time
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.model.context import Garbage

# shorter ones are counted but not listed: collections of the youngest generation take some µs
_LEAST_NS = 20_000
_MOST_LISTED = 50_000


class GarbageWatch(Signal):
    """From `begin` to `end`, through `gc.callbacks`: some 0.5 µs a collection."""

    field = "garbage"
    ends_first = True  # stopping the profiler collects a lot of garbage

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._began = (0, 0)
        self._count = 0
        self._total_ns = 0
        self._listed: list[tuple[int, int, int]] = []

    def begin(self) -> None:
        """Ask to be told."""
        gc.callbacks.append(self._called)

    def end(self) -> None:
        """Ask no more; does nothing where it has not begun."""
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)

    def facts(self) -> Garbage:
        """What was seen so far."""
        starts, durations, generations = zip(*self._listed, strict=True) if self._listed else ((), (), ())
        return Garbage(
            collections=self._count,
            total_ns=self._total_ns,
            start_ns=starts,
            duration_ns=durations,
            generation=generations,
        )

    def _called(self, phase: str, facts: dict[str, Any]) -> None:
        if phase == "start":
            self._began = (time.time_ns(), time.perf_counter_ns())
            return
        start_ns, began = self._began
        if not began:  # installed while one was under way
            return
        took = time.perf_counter_ns() - began
        self._began = (0, 0)
        self._count += 1
        self._total_ns += took
        if took >= _LEAST_NS and len(self._listed) < _MOST_LISTED:
            self._listed.append((start_ns, took, int(facts.get("generation", -1))))
