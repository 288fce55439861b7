"""How much the process may grow while kernels are recorded: the profiler keeps every event in memory until the end."""

from __future__ import annotations

_LEAST_BYTES = 512 * 1024**2
_MOST_BYTES = 4 * 1024**3
_SHARE_OF_FREE = 0.25


class GrowthLimit:
    """Whether resident memory has grown too far since the recording began.

    The limit is a quarter of the memory that was free then, at least 512 MiB and at most 4 GiB. The cell's own growth
    counts with the profiler's: the two cannot be told apart from outside.
    """

    def __init__(self) -> None:
        self._base_bytes = 0
        self._limit_bytes = _MOST_BYTES

    def begin(self) -> None:
        """Take the memory now as the base."""
        import psutil

        self._base_bytes = int(psutil.Process().memory_info().rss)
        free = int(psutil.virtual_memory().available * _SHARE_OF_FREE)
        self._limit_bytes = min(max(free, _LEAST_BYTES), _MOST_BYTES)

    def passed(self, resident_bytes: int) -> bool:
        """Whether the limit is passed with so much resident."""
        return resident_bytes - self._base_bytes > self._limit_bytes
