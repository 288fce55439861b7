"""Padding, read from attention masks."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import pytest
import torch

from gpuprof.capture.loading.loaders import LoaderWatch
from gpuprof.capture.loading.padding import Padding, padding_of

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


def padded(lengths: list[int], positions: int = 12) -> torch.Tensor:
    """Tokens from 5 on, and 0 where a sequence has ended."""
    rows = torch.arange(5, 5 + positions).repeat(len(lengths), 1)
    return rows * (torch.arange(positions) < torch.tensor(lengths)[:, None])


LENGTHS = [12, 3, 7, 2, 9]
TAKEN = torch.arange(12) < torch.tensor(LENGTHS)[:, None]


@pytest.mark.parametrize(
    "batch",
    [
        {"particles": torch.zeros(5, 12, 4), "mask": TAKEN, "kind": torch.zeros(5)},
        (torch.zeros(5, 12, 4), TAKEN, torch.zeros(5)),
        (padded(LENGTHS), torch.zeros(5, dtype=torch.int64)),
        ((padded(LENGTHS), torch.tensor(LENGTHS)), torch.zeros(5)),
        padded(LENGTHS).to(torch.int32),
    ],
    ids=["any mask", "in a tuple", "tokens", "within", "alone"],
)
def test_other_masks_and_padded_tokens_are_known(batch: Any) -> None:
    assert padding_of(batch) == Padding(33, 60, 60)


@pytest.mark.parametrize(
    "batch",
    [
        (torch.zeros(5, 3), TAKEN),
        (torch.zeros(5, 12), ~TAKEN),
        (torch.zeros(5, 12), torch.rand(5, 12) > 0.5),
        (torch.nn.functional.one_hot(torch.arange(9)),),
        (TAKEN.long(),),
        (padded([3, 5, 2]),),
        (padded(LENGTHS).to_sparse(),),
    ],
    ids=["of nothing", "padding is true", "random", "one-hot", "ordinal", "few rows", "sparse"],
)
def test_what_only_looks_alike_is_not(batch: Any) -> None:
    assert padding_of(batch) is None


@pytest.mark.parametrize(
    "rows", [padded([12, 12, 12, 12]), torch.randint(0, 50, (4, 12), generator=torch.Generator().manual_seed(0))]
)
def test_whole_numbers_without_a_filler_are_all_real(rows: torch.Tensor) -> None:
    """Beside batches that are padded they count as full."""
    assert padding_of((rows, torch.zeros(4))) == Padding(48, 48, 48)


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
    assert masked.tokens_a_batch == 4.0 and plain.tokens_a_batch is None
