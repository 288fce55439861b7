"""One line below a cell that says how far something is, written again in its place."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

_PERIOD_S = 1.0
_WIDTH = 110


class ProgressLine:
    """Written to stdout at most once a second, and blank at the end."""

    def __init__(self) -> None:
        self._shown_at = float("-inf")
        self._length = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._length:
            sys.stdout.write(f"\r{' ' * self._length}\r")
            sys.stdout.flush()

    def say(self, text: str) -> None:
        """Show it, where the last one has stood for a while."""
        now = time.monotonic()
        if now - self._shown_at < _PERIOD_S:
            return
        self._shown_at = now
        line = text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
        sys.stdout.write(f"\r{line.ljust(self._length)}")
        sys.stdout.flush()
        self._length = len(line)
