from __future__ import annotations

import ctypes
import platform

import psutil
import pytest

from gpuprof.capture import heap
from gpuprof.capture.heap import SmallPieces, give_back_free_memory

ON_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc cuts large free pieces so")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory and can be told not to")
def test_what_was_freed_in_small_pieces_goes_back_to_the_system() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    pieces = [libc.malloc(60_000) for _ in range(2000)]
    for piece in pieces:
        ctypes.memset(piece, 1, 60_000)
    last = pieces.pop()  # the top of the heap stays in use: without the call nothing would be given back
    for piece in pieces:
        libc.free(piece)
    before = psutil.Process().memory_info().rss
    give_back_free_memory()
    after = psutil.Process().memory_info().rss
    libc.free(last)
    assert before - after > 60e6


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap.platform, "libc_ver", lambda: ("", ""))
    for kind in ("CDLL", "PyDLL"):
        monkeypatch.setattr(heap.ctypes, kind, lambda _: pytest.fail("asked for the C library"))
    give_back_free_memory()
    pieces = SmallPieces()
    pieces.lay_out()
    pieces.take_up()
    assert not pieces.laid_out


@ON_GLIBC
def test_small_pieces_are_laid_out_once_and_taken_up_again() -> None:
    pieces = SmallPieces()
    pieces.lay_out()
    assert pieces.laid_out
    pieces.lay_out()
    pieces.take_up()
    assert not pieces.laid_out
    pieces.take_up()


@ON_GLIBC
def test_what_is_asked_for_next_lies_in_the_pieces_that_were_freed() -> None:
    """And so not in the memory of a large tensor: every second one of 60,000 is free."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    libc.malloc.argtypes = [ctypes.c_size_t]
    pieces = SmallPieces()
    pieces.lay_out()
    first, last = min(pieces.held), max(pieces.held)
    asked = [libc.malloc(size) for size in (24, 40, 56, 72) for _ in range(5_000)]
    inside = sum(first <= piece <= last for piece in asked)
    for piece in asked:
        libc.free(piece)
    pieces.take_up()
    assert inside > 0.9 * len(asked)
