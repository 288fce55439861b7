"""Readings of the CUDA allocator over the cell, with an allocator of our own in its place."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.capture.memory import device_memory
from gpuprof.capture.memory.device_memory import DeviceMemoryWatch


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    state = {"allocated": 0}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.cuda,
        "memory_stats_as_nested_dict",
        lambda device: {"allocated_bytes": {"all": {"current": state["allocated"] + device}}},
    )
    monkeypatch.setattr(device_memory, "_LEAST_APART_NS", 0)
    return state


def test_steps_batches_and_both_ends_are_read(cuda: dict[str, int]) -> None:
    watch = DeviceMemoryWatch()
    watch.begin()
    cuda["allocated"] = 100
    watch.before_batch()
    cuda["allocated"] = 200
    watch.after_step(None, 1)
    cuda["allocated"] = 300
    watch.end()
    (found,) = watch.facts()
    assert (found.device, found.allocated_bytes) == (1, (1, 101, 201, 301))
    assert list(found.time_ns) == sorted(found.time_ns)


def test_readings_are_apart_but_for_the_ends(cuda: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "_LEAST_APART_NS", 10**15)
    watch = DeviceMemoryWatch()
    watch.begin()
    watch.before_batch()
    watch.after_step(None, 1)
    watch.end()
    assert len(watch.facts()[0].time_ns) == 2


def test_where_no_step_comes_the_watching_thread_reads(cuda: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    watch = DeviceMemoryWatch()
    watch.begin()
    cuda["allocated"] = 100
    watch.tick(0)
    assert watch._rows[1][-1][1] == 1  # just after the beginning
    monkeypatch.setattr(device_memory, "_LEAST_QUIET_NS", 0)
    watch.tick(0)
    cuda["allocated"] = 50
    watch.end()
    watch.tick(0)
    found = {each.device: each.allocated_bytes for each in watch.facts()}
    assert found == {0: (100,), 1: (1, 101, 51)}


def test_a_long_run_is_thinned(cuda: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "_MOST_READINGS", 8)
    watch = DeviceMemoryWatch()
    for number in range(40):
        cuda["allocated"] = number
        watch.before_batch()
    assert len(watch.facts()[0].time_ns) < 8


def test_a_broken_device_answers_nothing(cuda: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(device: int) -> Any:
        raise RuntimeError

    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", broken)
    watch = DeviceMemoryWatch()
    watch.before_batch()
    assert watch.facts() == ()


def test_without_cuda_nothing_is_read_and_nothing_started() -> None:
    watch = DeviceMemoryWatch()
    watch.begin()
    watch.end()
    assert watch.facts() == ()
    assert not torch.cuda.is_initialized()
