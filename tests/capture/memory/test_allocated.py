from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gpuprof.capture.memory.allocated import AllocatedBytes


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, int]]:
    """Three devices, of which these hold so much; `asked` counts what was asked."""
    held: dict[int, int] = {}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)

    def stats(device: int) -> dict[str, Any]:
        return {"allocated_bytes": {"all": {"current": held[device]}}} if device in held else {}

    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", stats)
    yield held


def test_devices_that_hold_something_are_read(held: dict[int, int]) -> None:
    read = AllocatedBytes()
    held[1] = 5
    assert read.by_device() == {1: 5}
    held[1] = 0
    assert read.by_device() == {1: 0}
    # THEN one that comes later is found, too
    held[2] = 7
    assert {2: 7, 1: 0} in [read.by_device() for _ in range(10)]


def test_a_broken_device_gives_nothing(held: dict[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(device: int) -> None:
        raise RuntimeError

    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", broken)
    assert AllocatedBytes().by_device() == {}


def test_without_cuda_nothing_is_asked() -> None:
    assert AllocatedBytes().by_device() == {}
    assert not torch.cuda.is_initialized()
