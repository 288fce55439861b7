from __future__ import annotations

import ctypes
import platform

import psutil
import pytest

from gpuprof.capture.memory import malloc_trim
from gpuprof.capture.memory.malloc_trim import give_back_free_memory


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
    monkeypatch.setattr(malloc_trim.platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(malloc_trim.ctypes, "CDLL", lambda _: pytest.fail("asked for the C library"))
    give_back_free_memory()
