"""Bytes that this process has allocated and not freed, in small pieces: where the profiler keeps its events.

Resident memory does not show them. Memory that was freed earlier is used again without growth, and a large tensor is
resident as well. glibc counts what is in use, apart from large blocks that it maps one by one.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def heap_bytes() -> int | None:
    """Bytes in use on the heap (20 to 90 µs); None where the C library does not count them (glibc does since 2.33)."""
    counts = _counter()
    return None if counts is None else int(counts().uordblks)


@functools.cache
def _counter() -> Any:
    try:
        counter = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return None
    counter.restype = _Counts
    return counter
