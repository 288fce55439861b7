"""What a recording does to the C library's heap, and what is done about it. Elsewhere than with glibc: nothing."""

from __future__ import annotations

import ctypes
import platform
from collections import deque
from itertools import repeat
from typing import Any

# What torch's profiler keeps of an operator: a few names and pieces of no more than 72 bytes (counted on torch 2.13).
_SIZES = (24, 40, 56, 72)
_OF_EACH = 60_000


class SmallPieces:
    """Free pieces on the heap, as small as what a recorder keeps of each operator.

    Without them glibc cuts those pieces from the memory of whatever large tensor was freed last. The next tensor of
    that size then finds no room and takes new memory from the system, page by page: steps of a loop with tensors of
    4 MB were recorded 5.7 times as long as they are, and the process grew by 90 MB a step (benchmarks/README.md).
    Every other one of many small pieces is freed, and the rest (`held`, addresses) kept, so that they cannot join to
    larger ones: 150 ms, 13 MB.
    """

    def __init__(self) -> None:
        self.held: list[int] = []

    @property
    def laid_out(self) -> bool:
        """Whether they are there."""
        return bool(self.held)

    def lay_out(self) -> None:
        """Do it; nothing where they are there already."""
        # which keeps the GIL: to hand it on at each of 360,000 calls would let others in between
        library = None if self.held else _library(ctypes.PyDLL)
        if library is None:
            return
        for size in _SIZES:
            made = [piece for piece in map(library.malloc, repeat(size, _OF_EACH)) if piece]
            deque(map(library.free, made[::2]), maxlen=0)
            self.held += made[1::2]

    def take_up(self) -> None:
        """Free the rest."""
        library = _library(ctypes.PyDLL) if self.held else None
        if library is not None:
            deque(map(library.free, self.held), maxlen=0)
        self.held.clear()


def give_back_free_memory() -> None:
    """`malloc_trim(0)`: torch's profiler frees a recording in pieces that glibc keeps."""
    library = _library(ctypes.CDLL)
    if library is not None:
        library.malloc_trim(0)


def _library(kind: type[ctypes.CDLL]) -> Any:
    """The C library with the functions used here; None where it is another than glibc."""
    if platform.libc_ver()[0] != "glibc":
        return None
    try:
        library: Any = kind(None)
        library.malloc.argtypes, library.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
        library.free.argtypes, library.free.restype = [ctypes.c_void_p], None
        library.malloc_trim.argtypes, library.malloc_trim.restype = [ctypes.c_size_t], ctypes.c_int
    except (OSError, AttributeError):
        return None
    return library
