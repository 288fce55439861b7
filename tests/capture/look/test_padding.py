"""Padding among the numbers that index an embedding: what is padded, by which number, and what only looks like it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpuprof.capture.look.padding import is_index, padded
from gpuprof.model.kinds import ZeroPattern
from tests.capture.look.looks import look_at

LENGTHS = (5, 10, 20, 8)


def batch(
    length: int = 20, *, pad: int = 0, left: bool = False, dtype: torch.dtype = torch.int64, words: int = 90
) -> torch.Tensor:
    """Sequences of 5, 10, 20 and 8 numbers above `pad`."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.full((len(LENGTHS), length), pad, dtype=dtype)
    for row, each in enumerate(LENGTHS):
        sequence = torch.randint(pad + 1, pad + words, (each,), generator=generator).to(dtype)
        ids[row, length - each : length] = sequence
        if not left:
            ids[row] = ids[row].roll(each - length)
    return ids


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("pad", [0, 1, 50256])
@pytest.mark.parametrize("left", [False, True])
def test_rows_of_a_batch_as_long_as_its_longest(dtype: torch.dtype, pad: int, left: bool) -> None:
    assert padded(batch(pad=pad, left=left, dtype=dtype)) == (37 / 80, ZeroPattern.PADDED_ROWS)


def test_of_a_fixed_length_what_no_row_reaches() -> None:
    assert padded(batch(50)) == (30 / 50, ZeroPattern.PADDED_LENGTH)
    # a position or two at most
    assert padded(batch(21))[1] == ZeroPattern.PADDED_ROWS


def test_a_batch_without_padding() -> None:
    ids = torch.arange(64 * 32).reshape(64, 32)
    assert padded(ids) == (0.0, ZeroPattern.NONE)


def test_flags_of_which_many_are_zero_are_no_padding() -> None:
    generator = torch.Generator().manual_seed(0)
    assert padded((torch.rand(64, 32, generator=generator) < 0.3).long()) == (0.0, ZeroPattern.NONE)


def test_a_number_that_is_inside_of_sequences_too_is_no_padding() -> None:
    """Rests in a melody, of which many are at its end."""
    ids = batch(40)
    for row, each in enumerate(LENGTHS):
        ids[row, 1:each:3] = 0
    assert padded(ids) == (0.0, ZeroPattern.NONE)


def test_all_zeros_are_no_sequences() -> None:
    assert padded(torch.zeros(8, 32, dtype=torch.int64)) == (0.0, ZeroPattern.NONE)


def test_one_row_that_ends_in_a_run() -> None:
    ids = torch.arange(1, 64 * 32 + 1).reshape(64, 32)
    ids[3, 10:] = 0
    assert padded(ids) == (0.0, ZeroPattern.NONE)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(8, 32),
        torch.zeros(8, 32, dtype=torch.bool),
        torch.zeros(3, 32, dtype=torch.int64),
        torch.zeros(8, 15, dtype=torch.int64),
        torch.zeros(256, dtype=torch.int64),
        torch.zeros(32, 8, dtype=torch.int64).T,
        torch.zeros(2048, 1024, dtype=torch.int32),
        torch.zeros(8, 32, dtype=torch.int64, device="meta"),
    ],
)
def test_what_no_batch_of_sequences_is(tensor: torch.Tensor) -> None:
    assert not is_index(tensor)


def test_in_a_look_the_indices_of_an_embedding() -> None:
    table, ids, other = torch.rand(100, 8), batch(40), batch(40)
    before = ids.clone()

    def code() -> None:
        torch.nn.functional.embedding(ids, table).sum()
        other.sum()

    found = look_at(code)
    shares = found.values["zeros_share"]
    known = np.flatnonzero(shares == shares)
    assert shares[known].tolist() == [0.5]
    assert found.values["zero_pattern"][known].tolist() == [ZeroPattern.PADDED_LENGTH]
    assert torch.equal(ids, before)
