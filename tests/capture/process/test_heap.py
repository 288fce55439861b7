from __future__ import annotations

import ctypes
import time

import pytest

from gpuprof.capture.process import heap


def test_small_blocks_count_and_are_forgotten_when_freed() -> None:
    before = heap.heap_bytes()
    if before is None:
        pytest.skip("this C library does not count its heap")
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(4096) for _ in range(2000)]
    held = heap.heap_bytes()
    for block in blocks:
        library.free(block)
    after = heap.heap_bytes()
    assert held is not None and after is not None
    assert 8_000_000 < held - before < 10_000_000
    assert after - before < 2_000_000


def test_a_library_that_does_not_count_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    heap._counter.cache_clear()
    assert heap.heap_bytes() is None
    heap._counter.cache_clear()


def slow_to_count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Each count takes 6 ms. The clock, ns, in a list of one."""
    now = [0]

    def slow() -> tuple[int, int]:
        now[0] += 6_000_000
        return 7, 5

    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    monkeypatch.setattr(heap, "heap_counts", slow)
    return now


@pytest.mark.parametrize(("early", "asked_in_all"), [(0, 10), (4, 13)])
def test_a_heap_that_is_slow_to_count_is_counted_seldom(
    monkeypatch: pytest.MonkeyPatch, early: int, asked_in_all: int
) -> None:
    now = slow_to_count(monkeypatch)
    reader, asked = heap.HeapReader(early), 0
    while now[0] < 10_000_000_000:
        asked += reader.bytes_if_due() == 7
        now[0] += 10_000_000
    assert asked == asked_in_all and reader.allocated_bytes == 12
    reader.begin()
    assert reader.bytes_if_due() == 7


@pytest.mark.parametrize(
    ("grown_mib", "after_ms", "asked"),
    [(15, 900, False), (16, 240, False), (16, 250, True), (63, 240, False), (64, 1, True)],
)
def test_it_is_counted_sooner_where_the_process_has_grown(
    monkeypatch: pytest.MonkeyPatch, grown_mib: int, after_ms: int, asked: bool
) -> None:
    """GIVEN a heap that is slow to count, so that it is counted once a second."""
    now = slow_to_count(monkeypatch)
    reader = heap.HeapReader()
    assert reader.bytes_if_due(500 * 1024**2) == 7
    now[0] += after_ms * 1_000_000
    assert (reader.bytes_if_due((500 + grown_mib) * 1024**2) is not None) is asked
    assert reader.bytes_if_due(0) is None
