"""Padding, read from attention masks."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import pytest
import torch

from gpuprof.capture.loaders import LoaderWatch
from gpuprof.capture.padding import Padding, padding_of

MASK = [[1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool])
@pytest.mark.parametrize("wrap", [dict, UserDict, lambda given: (given, torch.zeros(2))])
def test_real_tokens_positions_and_the_longest(dtype: torch.dtype, wrap: Any) -> None:
    assert padding_of(wrap({"attention_mask": torch.tensor(MASK, dtype=dtype)})) == Padding(4, 12, 6)


@pytest.mark.parametrize(
    "batch",
    [
        torch.ones(2, 3),
        {"input_ids": torch.ones(2, 3)},
        {"attention_mask": MASK},
        {"attention_mask": torch.ones(2, 3)},
        {"attention_mask": torch.ones(2, 1, 3, dtype=torch.int64)},
        {"attention_mask": torch.ones(0, 3, dtype=torch.int64)},
        {"attention_mask": torch.ones(3, 2, dtype=torch.int64).T},
        None,
    ],
)
def test_everything_else_is_left_alone(batch: Any) -> None:
    assert padding_of(batch) is None


def test_nothing_is_recorded_of_it() -> None:
    batch = {"attention_mask": torch.tensor(MASK)}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        padding_of(batch)
    assert [event.name for event in profiler.events() if event.name.startswith("aten::")] == []


def test_a_watched_loader_adds_up_its_batches() -> None:
    samples = [{"attention_mask": torch.tensor(row)} for row in MASK * 2]
    watch = LoaderWatch(None, lambda batches: None)
    watch.install()
    try:
        for _ in torch.utils.data.DataLoader(samples, batch_size=2):
            pass
        for _ in torch.utils.data.DataLoader([torch.zeros(1)] * 4):
            pass
    finally:
        watch.remove()
    masked, plain = watch.facts()
    assert (masked.tokens, masked.token_positions, masked.longest_positions) == (8, 24, 12)
    assert (plain.tokens, plain.token_positions, plain.longest_positions) == (None, None, None)
