"""Recordings of this process whose files are still being written. They are finished before one is read or made, and at
the end of the process."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable

_finishing: dict[int, Callable[[], None]] = {}
_owner = os.getpid()


def add(finish: Callable[[], None]) -> None:
    """Have it called, once, before the next recording; it must not raise."""
    global _owner
    if os.getpid() != _owner:  # a forked child: the rest is its parent's
        _owner = os.getpid()
        _finishing.clear()
    _finishing[id(finish)] = finish


def finish_all() -> None:
    """Call what was added, in the process that added it."""
    while _finishing and os.getpid() == _owner:
        _finishing.popitem()[1]()


atexit.register(finish_all)
