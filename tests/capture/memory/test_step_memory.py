"""Readings of the CUDA allocator after steps, with an allocator of our own in its place."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.capture.memory import step_memory
from gpuprof.capture.memory.step_memory import StepMemoryWatch


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state = {"allocated": 0, "reserved": 0}

    def stats(device: int) -> dict[str, Any]:
        assert device == 1
        return {f"{name}_bytes": {"all": {"current": state[name]}} for name in state}

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", stats)
    monkeypatch.setattr(step_memory, "_LEAST_APART_NS", 0)
    return state


def test_each_step_is_read(cuda: dict[str, Any]) -> None:
    watch = StepMemoryWatch()
    for step in (1, 2, 3):
        cuda |= {"allocated": step * 100, "reserved": 2048}
        watch.after_step(None, step)
    (found,) = watch.facts()
    assert (found.device, found.step, found.allocated_bytes) == (1, (1, 2, 3), (100, 200, 300))
    assert found.reserved_bytes == (2048,) * 3
    assert len(found.time_ns) == 3


def test_a_long_run_is_thinned_evenly(cuda: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_memory, "_MOST_READINGS", 8)
    watch = StepMemoryWatch()
    for step in range(40):
        watch.after_step(None, step)
    (found,) = watch.facts()
    assert found.step == (0, 8, 16, 24, 32)


def test_without_cuda_nothing_is_read_and_nothing_started() -> None:
    watch = StepMemoryWatch()
    watch.after_step(None, 1)
    assert watch.facts() == ()
    assert not torch.cuda.is_initialized()
