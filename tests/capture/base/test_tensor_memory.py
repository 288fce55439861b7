from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.base.storages import storages_of
from gpuprof.capture.base.tensor_memory import address_of, array_of, storage_of
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
