"""How much memory a cell takes: the device's where there is one, else that of the process and its workers."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

import psutil

_EVERY_S = 0.05


class HostMemory:
    """Follows the memory of this process and its children, pages that they share counted once."""

    def __init__(self) -> None:
        self.before_bytes = self.peak_bytes = tree_bytes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._look()
        self._ended.set()
        self._thread.join()

    @property
    def grown_bytes(self) -> int:
        """From entering to the highest reading."""
        return self.peak_bytes - self.before_bytes

    def _follow(self) -> None:
        while not self._ended.wait(_EVERY_S):
            self._look()

    def _look(self) -> None:
        self.peak_bytes = max(self.peak_bytes, tree_bytes())


def tree_bytes() -> int:
    """Proportional set size of this process and its children, in bytes."""
    process = psutil.Process()
    return sum(_own_bytes(each) for each in (process, *process.children(recursive=True)))


def device_peak_bytes(cells: Any) -> int:
    """The most that torch took of the device while calling `cells`, in bytes, above what it needed before.

    What is reserved counts, not what is allocated: that is what others cannot have, pieces too small for use included.
    """
    import torch

    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_reserved()
    cells()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_reserved() - before)


def _own_bytes(process: psutil.Process) -> int:
    try:
        full = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0  # a worker that has just ended
    return int(getattr(full, "pss", full.rss))
