"""The user's datasets, samplers and collate functions are called as often with gpuprof as without it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, Sampler, Subset

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.loading.lengths import Lengths
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Loader

Calls = dict[str, int]
_KINDS = ("dataset len", "dataset item", "dataset iter", "sampler len", "sampler iter", "collate")
_COUNTS = {kind: multiprocessing.get_context("fork").Value("i", 0) for kind in _KINDS}


def count(kind: str) -> None:
    with _COUNTS[kind].get_lock():
        _COUNTS[kind].value += 1


class Counted(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        count("dataset len")
        return 10

    def __getitem__(self, index: int) -> torch.Tensor:
        count("dataset item")
        return torch.zeros(2)


class Stream(IterableDataset[torch.Tensor]):
    def __len__(self) -> int:
        count("dataset len")
        return 10

    def __iter__(self) -> Iterator[torch.Tensor]:
        count("dataset iter")
        return iter([torch.zeros(2)] * 10)


class OwnSampler(Sampler[int]):
    def __len__(self) -> int:
        count("sampler len")
        return 10

    def __iter__(self) -> Iterator[int]:
        count("sampler iter")
        return iter(range(10))


class OwnBatches(Sampler[list[int]]):
    def __len__(self) -> int:
        count("sampler len")
        return 3

    def __iter__(self) -> Iterator[list[int]]:
        count("sampler iter")
        return iter([[0, 1, 2], [3, 4, 5], [6, 7]])


def collate(samples: list[torch.Tensor]) -> torch.Tensor:
    count("collate")
    return torch.stack(samples)


def loop(loader: DataLoader[Any], passes: int = 2) -> None:
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(passes):
        for batch in loader:
            (batch * weight).sum().backward()
            optimizer.step()


def calls_of(work: Callable[[], object]) -> Calls:
    before = {kind: counter.value for kind, counter in _COUNTS.items()}
    work()
    return {kind: counter.value - before[kind] for kind, counter in _COUNTS.items()}


LOADERS: dict[str, tuple[Callable[[], DataLoader[Any]], tuple[int | None, int | None]]] = {
    "map-style": (lambda: DataLoader(Counted(), batch_size=4, collate_fn=collate), (3, 10)),
    "shuffled": (lambda: DataLoader(Counted(), batch_size=4, shuffle=True, drop_last=True), (2, 10)),
    "subset": (lambda: DataLoader(Subset(Counted(), range(6)), batch_size=4), (2, 6)),
    "single samples": (lambda: DataLoader(Counted(), batch_size=None), (10, 10)),
    "workers": (lambda: DataLoader(Counted(), batch_size=4, collate_fn=collate, num_workers=2), (3, 10)),
    "iterable": (lambda: DataLoader(Stream(), batch_size=4, collate_fn=collate), (None, None)),
    "own sampler": (lambda: DataLoader(Counted(), batch_size=4, sampler=OwnSampler()), (3, None)),
    "own batches": (lambda: DataLoader(Counted(), batch_sampler=OwnBatches()), (3, None)),
}


@pytest.mark.parametrize("name", LOADERS)
def test_a_profiled_loop_calls_the_users_code_as_often(name: str, tmp_path: Path) -> None:
    make, expected = LOADERS[name]
    plain = calls_of(lambda: loop(make()))
    captured: list[tuple[Loader, ...]] = []

    def profiled() -> None:
        session = Session(CaptureOptions(folder=tmp_path / "runs", no_nvml=True))
        session.start()
        loop(make())
        captured.append(session.stop().context.loaders)

    assert calls_of(profiled) == plain
    ((found,),) = captured
    assert (found.batches, found.samples) == expected
    assert (Counted.__len__.__qualname__, hasattr(Counted.__len__, "__wrapped__")) == ("Counted.__len__", False)


def test_what_nobody_asked_is_not_known() -> None:
    lengths, data = Lengths(), Counted()
    lengths.watch(data)
    assert (lengths.of(data), lengths.samples(RandomSampler(data))) == (None, 10)  # RandomSampler itself asks
    assert lengths.of(data) == len(data) == 10
    lengths.end()
    assert lengths.by_id(id(data)) == 10
    lengths.forget()
    assert lengths.of(data) is None


def test_torchs_own_are_asked_where_only_torch_answers() -> None:
    lengths = Lengths()
    tensors = torch.utils.data.TensorDataset(torch.zeros(7, 2))
    assert lengths.of(tensors) == 7
    assert lengths.of(ConcatDataset([tensors, tensors])) == 14
    assert lengths.of(Subset(tensors, [1, 2])) == 2
    # `np.random.permutation` and `torch.randperm` choose indices
    assert lengths.of(Subset(tensors, np.array([2, 0]))) == 2  # type: ignore[arg-type]
    assert lengths.of(Subset(tensors, torch.tensor([2]))) == 1  # type: ignore[arg-type]
    assert lengths.of(np.array(3)) is None
    assert lengths.of([1, 2, 3]) == 3
    assert (
        calls_of(lambda: lengths.of(ConcatDataset([Counted(), tensors])))["dataset len"] == 1
    )  # made by ConcatDataset
    assert lengths.of(object()) is None
    assert lengths.samples(torch.utils.data.SubsetRandomSampler([4, 5])) == 2
    assert lengths.samples(torch.utils.data.WeightedRandomSampler([0.5, 0.5], 9)) == 9


def test_an_error_of_the_users_is_its_own(tmp_path: Path) -> None:
    class Broken(Counted):
        def __len__(self) -> int:
            raise KeyError("no index")

    lengths, data = Lengths(), Broken()
    lengths.watch(data)
    with pytest.raises(KeyError, match="no index") as raised:
        len(data)
    assert [entry.path.name for entry in raised.traceback] == [Path(__file__).name] * 2
    lengths.end()
    assert lengths.of(data) is None
