from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from gpuprof.capture.loading.loaders import LoaderWatch
from gpuprof.capture.loading.sample_repeats import DrawnIndices, SampleRepeats
from gpuprof.model.context import Loader


class Notes(Dataset[tuple[torch.Tensor, int]]):
    def __init__(self, length: int = 40, noise: float = 0.0):
        self.length, self.noise = length, noise

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((3, 5), float(index)) + self.noise * torch.rand(3, 5), index % 2


def passes(data: Any, count: int = 2, *, breaks_at: int | None = None, anew: bool = False, **options: Any) -> Loader:
    watch = LoaderWatch(__file__, lambda _: None)
    watch.install()
    try:
        loader = DataLoader(data, **options)
        for _ in range(count):
            if anew:
                loader = DataLoader(data, **options)
            for number, _ in enumerate(loader):
                if number == breaks_at:
                    break
    finally:
        watch.remove()
    return watch.facts()[-1]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_same_samples_in_every_pass_in_whatever_order(workers: int) -> None:
    found = passes(Notes(), batch_size=8, shuffle=True, num_workers=workers)
    assert found.samples_compared == found.samples_same > 15
    assert found.sample_bytes == 15 * 4 + 8


def test_the_first_that_differs_ends_it() -> None:
    found = passes(Notes(noise=1e-6), batch_size=8, shuffle=True)
    assert found.samples_compared > found.samples_same
    assert found.samples_compared <= 8


def test_one_pass_compares_nothing() -> None:
    assert passes(Notes(), 1, batch_size=8).samples_compared == 0


def test_no_more_than_64_are_compared() -> None:
    assert passes(Notes(400), 4, batch_size=50).samples_compared == 64


def test_a_loader_made_anew_for_each_pass() -> None:
    found = passes(Notes(), 2, batch_size=8, anew=True)
    assert (found.samples_compared, found.samples_same) == (20, 20)


def test_persistent_workers_that_were_left_early() -> None:
    """What they had drawn ahead for the first pass does not come in the second."""
    options = {"batch_size": 4, "num_workers": 2, "persistent_workers": True, "shuffle": True}
    found = passes(Notes(), 4, breaks_at=3, **options)
    assert found.samples_compared == found.samples_same


def test_batches_out_of_order_are_not_compared() -> None:
    found = passes(Notes(), 2, batch_size=8, num_workers=2, in_order=False)
    assert found.samples_compared == 0


def with_a_long_text(samples: Sequence[Any]) -> Any:
    return {"text": ["word"] * 3, "image": torch.stack([image for image, _ in samples])}


def test_a_batch_in_a_mapping_with_other_things() -> None:
    found = passes(Notes(), 2, batch_size=8, collate_fn=with_a_long_text)
    assert found.samples_compared == found.samples_same > 0
    assert found.sample_bytes == 60


def summed(samples: Sequence[Any]) -> torch.Tensor:
    return torch.stack([image for image, _ in samples]).sum(0)


def test_a_batch_without_a_row_for_each_sample() -> None:
    assert passes(Notes(), 2, batch_size=8, collate_fn=summed).samples_compared == 0


def test_a_list_of_samples() -> None:
    found = passes([torch.ones(2) * each for each in range(20)], 2, batch_size=5)
    assert (found.samples_compared, found.samples_same) == (16, 16)


class Half(torch.Tensor):
    # without one of its own it keeps close looks from beginning
    def __new__(cls, data: torch.Tensor) -> torch.Tensor:
        return data.as_subclass(cls)


@pytest.mark.parametrize(
    "batch",
    [
        torch.zeros(4, 2, dtype=torch.bfloat16),
        torch.zeros(4, 2, requires_grad=True),
        torch.zeros(4, 2).to_sparse(),
        torch.zeros(4, 2).as_subclass(Half),
        torch.tensor(1.0),
        torch.zeros(3, 2),
        [torch.zeros(4, 2)] * 40,
        "text",
        None,
    ],
)
def test_what_is_not_compared(batch: Any) -> None:
    repeats = SampleRepeats()
    for _ in range(2):
        repeats.read((0, 1, 2, 3), batch)
    assert repeats.compared == 0


def test_a_small_local_change_of_a_large_sample() -> None:
    """As when a part of a picture is erased."""
    image = torch.rand(1, 3, 300, 300)
    changed = image.clone()
    changed[0, :, 140:160, 140:160] = 0.0
    repeats = SampleRepeats()
    repeats.read((7,), image)
    repeats.read((7,), image.clone())
    assert (repeats.compared, repeats.same, repeats.wanted) == (1, 1, True)
    repeats.read((7,), changed)
    assert (repeats.compared, repeats.same, repeats.wanted) == (2, 1, False)


def test_the_same_numbers_of_another_shape_or_type_differ() -> None:
    for other in (torch.zeros(1, 4, dtype=torch.int32), torch.zeros(1, 2, 2)):
        repeats = SampleRepeats()
        repeats.read((0,), torch.zeros(1, 4))
        repeats.read((0,), other)
        assert (repeats.compared, repeats.same) == (1, 0)


class Drawing:
    pass


@pytest.mark.parametrize("indices", [[], [0.5], "ab", ["a"], [torch.tensor(1)], 3, None])
def test_indices_that_tell_nothing(indices: Any) -> None:
    drawn, iterator, repeats = DrawnIndices(), Drawing(), SampleRepeats()
    drawn.draws(iterator, indices)
    drawn.draws(iterator, [1, 2])
    told = drawn.next_of(iterator)
    if told is not None:
        repeats.read(told, torch.zeros(len(told), 3))
    assert repeats.sample_bytes is None
    assert drawn.next_of(iterator) == (1, 2)
    assert drawn.next_of(iterator) is None


class Names:
    """A sampler of what is no index; its dataset is a mapping."""

    def __iter__(self) -> Iterator[str]:
        return iter("abcd")

    def __len__(self) -> int:
        return 4


def test_names_for_indices() -> None:
    data: Any = {name: torch.zeros(2) for name in "abcd"}
    assert passes(data, 2, batch_size=2, sampler=Names()).samples_compared == 0


def test_torch_has_its_own_methods_back() -> None:
    from torch.utils.data import dataloader

    before = dataloader._BaseDataLoaderIter._next_index
    passes(Notes(), 1, batch_size=8)
    assert dataloader._BaseDataLoaderIter._next_index is before
