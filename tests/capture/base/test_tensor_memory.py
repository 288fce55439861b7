from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.base.storages import storages_of
from gpuprof.capture.base.tensor_memory import address_of, array_of, storage_of
from gpuprof.capture.lines.content_marks import mark_of
from gpuprof.capture.loading.padding import padding_of
from gpuprof.capture.loading.sample_repeats import SampleRepeats
from gpuprof.capture.memory.repeated_content import repeats_in
from gpuprof.capture.memory.zero_content import zeros_in
from tests.support.looked_runs import looked_at


def compared(tensor: torch.Tensor) -> None:
    repeats = SampleRepeats()
    for _ in range(2):
        repeats.read((0, 1), tensor)
    assert repeats.compared == 2


def padded(tensor: torch.Tensor) -> None:
    assert padding_of({"attention_mask": (tensor > 0.5).long()}) is not None


@pytest.mark.parametrize(
    "ours", [storages_of, compared, padded, repeats_in, zeros_in, address_of, storage_of, array_of]
)
def test_what_we_read_ourselves_is_no_read_outside_of_torch(ours: Callable[[torch.Tensor], Any]) -> None:
    """Else the close look could not say any more who reads a result."""

    def code(look: Any) -> torch.Tensor:
        made = torch.ones(2, 600, 600) if ours is repeats_in else torch.ones(2, 6)
        ours(made)
        return made

    values = looked_at(code).tables["looked_values"]
    assert len(values) and not values["read_outside"].any()


def test_they_say_what_the_methods_say() -> None:
    tensor = torch.arange(6.0)[2:]
    assert storage_of(tensor).data_ptr() == tensor.untyped_storage().data_ptr()
    assert address_of(tensor) == tensor.data_ptr()
    assert array_of(tensor).tolist() == tensor.tolist()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(24.0).reshape(2, 3, 4).transpose(0, 2)[1:, :, 1],
        torch.tensor(3, dtype=torch.int16),
        torch.zeros(0, 4),
        torch.tensor([True, False]),
        torch.arange(6).to(torch.complex64),
        torch.ones(3).expand(4, 3),
    ],
    ids=lambda tensor: f"{tensor.dtype} {tensor.stride()}",
)
def test_an_array_of_a_tensor_is_what_numpy_makes_of_it(tensor: torch.Tensor) -> None:
    array, plain = array_of(tensor), tensor.numpy()
    assert (array.dtype, array.shape) == (plain.dtype, plain.shape)
    assert array.strides == plain.strides or not array.size
    assert array.tolist() == tensor.tolist()
    assert not array.flags.writeable or not array.size


def test_it_keeps_the_memory() -> None:
    array = array_of(torch.arange(100_000.0))
    others = [torch.zeros(100_000) for _ in range(4)]
    assert array[-1] == 99_999 and len(others) == 4


def emptied() -> torch.Tensor:
    tensor = torch.ones(5)
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.mark.parametrize(
    ("tensor", "error"),
    [
        (torch.ones(2, dtype=torch.bfloat16), TypeError),
        (torch.ones(2, dtype=torch.complex64).conj(), RuntimeError),
        (torch.ones(2, device="meta"), RuntimeError),
        (torch._efficientzerotensor((3,)), RuntimeError),
        (emptied(), RuntimeError),
    ],
)
def test_what_cannot_be_read_in_place_is_refused(tensor: torch.Tensor, error: type[Exception]) -> None:
    with pytest.raises(error):
        array_of(tensor)


@pytest.mark.parametrize("ours", [storages_of, compared, padded, repeats_in, zeros_in, address_of, array_of, mark_of])
def test_a_tensor_that_we_read_can_still_be_resized(ours: Callable[[torch.Tensor], Any]) -> None:
    tensor = torch.ones(2, 600, 600) if ours is repeats_in else torch.ones(2, 6)
    ours(tensor)
    storage = tensor.untyped_storage()
    assert storage.resizable()
    storage.resize_(0)
