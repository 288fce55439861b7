from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gpuprof.capture.memory.allocator import compare_allocators, read_allocators


def stats(current: int, peak: int, reserved: int, retries: int = 0, allocs: int = 0) -> dict[str, Any]:
    return {
        "allocated_bytes.all.current": current,
        "allocated_bytes.all.peak": peak,
        "reserved_bytes.all.current": reserved,
        "reserved_bytes.all.peak": reserved,
        "num_alloc_retries": retries,
        "num_ooms": 0,
        "num_device_alloc": allocs,
        "num_device_free": 0,
    }


def test_before_and_after() -> None:
    (found,), notes = compare_allocators({0: stats(10, 20, 30, 1, 4)}, {0: stats(15, 50, 60, 3, 9), 1: stats(0, 0, 0)})
    assert (found.device, found.allocated_before_bytes, found.allocated_after_bytes) == (0, 10, 15)
    assert (found.peak_allocated_bytes, found.peak_reserved_bytes, found.reserved_after_bytes) == (50, 60, 60)
    assert (found.retries, found.ooms, found.device_allocs, found.device_frees) == (2, 0, 5, 0)
    assert found.peak_in_run is True
    assert notes == ()


def test_an_older_peak_is_not_this_runs() -> None:
    (found,), notes = compare_allocators({0: stats(10, 50, 60)}, {0: stats(10, 50, 60)})
    assert found.peak_in_run is False
    assert "before this run" in notes[0]


def test_cuda_first_used_in_the_run() -> None:
    (found,), notes = compare_allocators({}, {0: stats(10, 50, 60)})
    assert (found.allocated_before_bytes, found.peak_in_run, notes) == (0, True, ())


def test_cuda_is_not_initialised_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    assert read_allocators() == {}


def test_a_poisoned_device_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned() -> int:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", poisoned)
    assert read_allocators() == {}


def test_a_process_may_keep_to_a_part_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SimpleNamespace(total_memory=1000)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda device: stats(10, 50, 60))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: whole)
    monkeypatch.setattr(
        torch.cuda, "get_per_process_memory_fraction", lambda device: (0.25, 1.0)[device], raising=False
    )
    found, _ = compare_allocators({}, read_allocators())
    assert [each.limit_bytes for each in found] == [250, None]


def test_older_torch_does_not_say_what_it_may_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda device: stats(10, 50, 60))
    monkeypatch.delattr(torch.cuda, "get_per_process_memory_fraction", raising=False)
    (found,), _ = compare_allocators({}, read_allocators())
    assert found.limit_bytes is None
