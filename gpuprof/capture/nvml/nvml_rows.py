"""The readings of one run, kept under a fixed number: a cell may run for days."""

from __future__ import annotations

from gpuprof.model.readings import DeviceReading


class NvmlRows:
    """Readings with the number of their tick. When `limit` is passed, every second tick is dropped.

    Ticks are renumbered then, so that those which carry the slow metrics (multiples of `Pace.slow_every`, which
    halves with the rate) stay.
    """

    def __init__(self, limit: int = 20_000):
        self._limit = limit
        self._rows: list[tuple[int, DeviceReading]] = []
        self.thinned = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, tick: int, reading: DeviceReading) -> None:
        """Keep one reading."""
        self._rows.append((tick, reading))

    def thin(self) -> bool:
        """Drop every second tick if there are too many rows; whether that was done."""
        if len(self._rows) <= self._limit:
            return False
        # a new list, so that a reader of the old one never sees it half changed
        self._rows = [(tick // 2, reading) for tick, reading in self._rows if tick % 2 == 0]
        self.thinned += 1
        return True

    def readings(self) -> list[DeviceReading]:
        """All of them, in the order of reading."""
        return [reading for _, reading in self._rows]
