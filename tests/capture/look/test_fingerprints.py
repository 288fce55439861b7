"""The host's hash of bytes: the same for the same, another for others."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.capture.look.fingerprint_taker import FingerprintTaker
from gpuprof.capture.look.fingerprints import WORDS, HostHash, sealed


def _bytes(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, (count,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def _of(tensor: torch.Tensor) -> int:
    return HostHash().of(tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes())


@given(st.integers(1, 600), st.integers(0, 10_000), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_one_changed_byte_shows(count: int, at: int, change: int) -> None:
    tensor = _bytes(count)
    before = _of(tensor)
    tensor[at % count] ^= change
    assert _of(tensor) != before


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.int64])
def test_other_signs_order_or_size_show(dtype: torch.dtype) -> None:
    tensor = torch.arange(1, 4097, dtype=torch.float64).to(dtype)
    others = [-tensor, tensor.flip(0), tensor.roll(1), tensor[:-1].clone(), torch.cat([tensor, tensor.new_zeros(1)])]
    found = {sealed(_of(each), each.untyped_storage().nbytes(), str(dtype)) for each in (tensor, *others)}
    assert len(found) == 6


def test_memory_that_does_not_lie_at_words_has_the_same_hash() -> None:
    tensor = _bytes(8 * WORDS + 100)
    shifted = torch.empty(tensor.numel() + 3, dtype=torch.uint8)
    shifted[3:] = tensor
    assert HostHash().of(shifted.data_ptr() + 3, tensor.numel()) == _of(tensor)


def test_type_and_size_are_part_of_it_and_it_is_never_zero() -> None:
    assert sealed(5, 8, "torch.int64") != sealed(5, 8, "torch.float64") != sealed(5, 16, "torch.float64")
    assert all(-(2**63) <= sealed(number, 8, "torch.int64") < 2**63 for number in (0, 2**63, 2**64 - 1))


def test_a_budget_ends() -> None:
    small, left = torch.ones(1000), [10**9]
    taker = FingerprintTaker(10_000, lambda: left[0])
    taken = [taker.take(small, small.untyped_storage()) for _ in range(3)]
    assert taken[0] == taken[1] is not None
    assert taken[2] is None
    assert taker.number(taken[2]) == 0
    left[0] = 100  # ns: hashing would outlast the look
    assert FingerprintTaker(10_000, lambda: left[0]).take(small, small.untyped_storage()) is None
