"""Ctrl-C while the profiler is being torn down: the first waits, the second gets through."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class HeldInterrupt:
    """Whether a Ctrl-C arrived while it was held."""

    arrived: bool = False


@contextmanager
def interrupts_held(on_first: Callable[[], None] | None = None) -> Iterator[HeldInterrupt]:
    """Hold SIGINT inside the block. The first only sets `arrived` (and calls `on_first`); a second raises
    KeyboardInterrupt where the code is. Off the main thread, or under a handler set outside Python, nothing changes.
    """
    held = HeldInterrupt()
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or previous is None:
        yield held
        return

    def hold(number: int, frame: FrameType | None) -> Any:
        if held.arrived:
            raise KeyboardInterrupt
        held.arrived = True
        if on_first is not None:
            on_first()

    signal.signal(signal.SIGINT, hold)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, previous)
