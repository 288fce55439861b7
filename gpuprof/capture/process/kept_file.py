"""A small file of `/proc` that is read again and again: opened once, each reading is one call of the system.

Opening, asking for its size, reading to the end and closing gives up the GIL eight times, and each time the cell's
thread takes over and has to give it back.
"""

from __future__ import annotations

import contextlib
import os

_MOST_BYTES = 4096


class KeptFile:
    """From the first `read` to `close`. A process that is forked from this one would read this one's figures."""

    def __init__(self, path: str):
        self._path = path
        self._descriptor: int | None = None

    def read(self) -> bytes:
        """What it says now, the whole words of the first 4 KiB. OSError where it cannot be read."""
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        found = os.pread(self._descriptor, _MOST_BYTES, 0)
        return found if len(found) < _MOST_BYTES else found.rpartition(b" ")[0]

    def close(self) -> None:
        """Does nothing a second time."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)
