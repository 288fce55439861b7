"""Keeps file descriptors for the end of a run: a cell that uses up all of them must not cost the run."""

from __future__ import annotations

import contextlib
import os

# the packed trace, what it is packed from, the tables, /proc for the process and its children, the driver
KEPT = 24
_MOST_SHARE = 8  # at most one in eight of those that the process may have


class DescriptorReserve:
    """From `take` to `release` this process holds descriptors that it does not use: copies of one end of a pipe."""

    def __init__(self) -> None:
        self._held: list[int] = []
        self._pipe: tuple[int, int] | None = None

    def take(self) -> None:
        """Hold them, as far as there are any."""
        with contextlib.suppress(OSError):
            reader, writer = os.pipe()
            os.close(writer)
            self._held.append(reader)
            self._pipe = _identity(reader)
            for _ in range(min(KEPT, _allowed() // _MOST_SHARE) - 1):
                self._held.append(os.dup(reader))

    def release(self) -> None:
        """Give them back; does nothing where none are held.

        A cell may have closed one, so that its number now belongs to a file of the user's: that one stays open.
        """
        while self._held:
            number = self._held.pop()
            with contextlib.suppress(OSError):
                if _identity(number) == self._pipe:
                    os.close(number)


def _identity(number: int) -> tuple[int, int]:
    found = os.fstat(number)
    return found.st_dev, found.st_ino


def _allowed() -> int:
    try:
        import resource
    except ImportError:  # Windows, where descriptors hardly run out
        return KEPT * _MOST_SHARE
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
