"""Bytes that this process has allocated and not freed, in small pieces: where the profiler keeps its events.

Resident memory does not show them. Memory that was freed earlier is used again without growth, and a large tensor is
resident as well. glibc counts what is in use, apart from large blocks that it maps one by one.
"""

from __future__ import annotations

import ctypes
import functools
import time
from typing import Any

from gpuprof.units import NS_PER_S

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


_PERIOD_NS = 20_000_000
_MOST_PERIOD_NS = NS_PER_S
# of the first looks, which show how much a step adds
_EARLY_PERIOD_NS = 50_000_000
# of the time
_SHARE = 0.005
# a process that grew as much since the last answer is asked sooner: a million events a second take 200 MiB
_GROWN_BYTES, _GROWN_PERIOD_NS = 16 * 1024**2, NS_PER_S // 4
_MUCH_GROWN_BYTES = 64 * 1024**2


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def heap_bytes() -> int | None:
    """Bytes in use on the heap; None where the C library does not count them (glibc does since 2.33).

    It goes through every free piece: 20 to 90 µs, but 6 ms on a heap with 100,000 of them.
    """
    counts = heap_counts()
    return None if counts is None else counts[0]


def heap_counts() -> tuple[int, int] | None:
    """The same, and with it what lies in large blocks that are mapped one by one."""
    counts = _counter()
    if counts is None:
        return None
    found = counts()
    return int(found.uordblks), int(found.hblkhd)


class HeapReader:
    """Asks that as often as its time allows, but 50 times a second at most, and once a second at least; sooner where
    the process has grown.

    `early`: so many looks after `begin` come no more than 50 ms apart. `allocated_bytes`: at the last answer, with what
    is mapped one by one.
    """

    def __init__(self, early: int = 0) -> None:
        self._early = early
        self.allocated_bytes = 0
        self.begin()

    def begin(self) -> None:
        """What is looked at begins."""
        self._due_ns, self._early_left = 0, self._early
        self._asked_ns = self._resident_bytes = 0

    def bytes_if_due(self, resident_bytes: int = 0) -> int | None:
        """Bytes in use, or None where it has been asked lately, or they are not counted. `resident_bytes`: of the
        process now, 0: not known."""
        began = time.monotonic_ns()
        if began < self._due_ns and not self._has_grown(resident_bytes, began):
            return None
        found = heap_counts()
        now = time.monotonic_ns()
        most = _EARLY_PERIOD_NS if self._early_left > 1 else _MOST_PERIOD_NS
        self._early_left -= 1
        self._asked_ns, self._resident_bytes = now, resident_bytes
        self._due_ns = now + min(max(int((now - began) / _SHARE), _PERIOD_NS), most)
        if found is None:
            return None
        self.allocated_bytes = sum(found)
        return found[0]

    def _has_grown(self, resident_bytes: int, now_ns: int) -> bool:
        grown = resident_bytes - self._resident_bytes if self._resident_bytes else 0
        soon = now_ns - self._asked_ns < _GROWN_PERIOD_NS
        return grown >= (_MUCH_GROWN_BYTES if soon else _GROWN_BYTES)


@functools.cache
def _counter() -> Any:
    try:
        counter = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return None
    counter.restype = _Counts
    return counter
