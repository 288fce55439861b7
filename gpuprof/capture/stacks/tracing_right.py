"""The right of another process to read this one."""

from __future__ import annotations

import contextlib
import ctypes
import sys

_PR_SET_PTRACER = 0x59616D61


def let_read(pid: int) -> None:
    """Where Yama guards processes from each other, let that one read this one."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)
