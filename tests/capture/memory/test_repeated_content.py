"""Tensors that hold the same numbers again and again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gpuprof.capture.memory.dense_arrays import LEAST_CONTENT_BYTES
from gpuprof.capture.memory.repeated_content import repeats_in
from gpuprof.capture.memory.tensor_references import held_tensors


def signal(length: int = 40_000, channels: int = 2) -> torch.Tensor:
    return torch.randn(length, channels, generator=torch.Generator().manual_seed(0))


def windows(length: int = 160, step: int = 1, number: int = 30_000) -> torch.Tensor:
    return signal(number * step + length).unfold(0, length, step)[:number].contiguous()


@pytest.mark.parametrize(("length", "step"), [(160, 1), (300, 2), (320, 10), (320, 160)])
def test_overlapping_windows(length: int, step: int) -> None:
    dense = windows(length, step)
    found = repeats_in(dense)
    assert found is not None
    number = len(dense)
    assert found.times == pytest.approx(number * length / ((number - 1) * step + length))
    assert found.bytes == pytest.approx(dense.nbytes * (1 - 1 / found.times), abs=1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int32])
def test_of_other_types(dtype: torch.dtype) -> None:
    dense = (windows(320) * 100).to(dtype)
    found = repeats_in(dense)
    assert found is not None and found.times == pytest.approx(317, abs=1)


def test_stacked_windows_with_time_last_and_time_in_between() -> None:
    x = signal()
    stacked = torch.stack([x[i : i + 160].T for i in range(30_000)])
    assert (found := repeats_in(stacked)) is not None and found.times > 150
    assert (found := repeats_in(stacked.transpose(1, 2).contiguous())) is not None and found.times > 150


def test_rows_that_are_all_alike() -> None:
    found = repeats_in(signal(4000, 4).reshape(1, -1).repeat(1000, 1))
    assert found is not None and found.times == pytest.approx(1000)


@pytest.mark.parametrize(
    "make",
    [
        lambda: windows(160, 160),
        lambda: torch.randn(3000, 4000),
        lambda: torch.zeros(3000, 4000),
        lambda: torch.eye(3500),
        lambda: torch.randint(0, 3, (3000, 4000)).float(),
        lambda: signal().unfold(0, 320, 1),
        lambda: torch.randn(4000).expand(5000, -1),
        lambda: torch.randn(LEAST_CONTENT_BYTES // 4 + 8),
        lambda: windows(20, 1, 10_000),
        lambda: torch.nn.Parameter(windows()),
    ],
    ids=["apart", "noise", "zeros", "eye", "classes", "view", "expanded", "line", "small", "weights"],
)
def test_what_repeats_nothing(make: Callable[[], torch.Tensor]) -> None:
    assert repeats_in(make()) is None


def test_of_a_name() -> None:
    dense = windows()
    (row,) = held_tensors({"dense": dense}, "train()")
    assert row.repeated_times > 150 and row.bytes * 0.99 < row.repeated_bytes < row.bytes
