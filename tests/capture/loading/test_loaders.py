from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from gpuprof.capture.loading.loaders import LoaderWatch
from tests.capture.cells import loader


@pytest.fixture
def watch() -> Iterator[LoaderWatch]:
    watch = LoaderWatch(__file__, lambda _: None)
    watch.install()
    yield watch
    watch.remove()


class Slow(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.01)
        return torch.zeros(2)


def test_settings_line_and_waits(watch: LoaderWatch) -> None:
    data = DataLoader(Slow(), batch_size=2)
    for _ in range(2):
        before = time.time_ns()
        for _ in data:  # the line
            pass
    (found,) = watch.facts()
    assert (found.workers, found.batch_size, found.batches, found.samples) == (0, 2, 3, 6)
    assert (found.pin_memory, found.persistent_workers, found.prefetch_factor) == (False, False, None)
    assert (found.dataset, found.iterations_started, found.batches_read) == ("Slow", 2, 6)
    assert found.iterable is False
    assert found.line == test_settings_line_and_waits.__code__.co_firstlineno + 4
    assert len(found.wait_ns) == len(found.wait_start_ns) == 6
    assert all(20e6 <= wait < 200e6 for wait in found.wait_ns)
    assert found.wait_start_ns[3] >= before
    assert list(found.wait_start_ns) == sorted(found.wait_start_ns)


def test_the_call_that_ends_it_is_no_wait(watch: LoaderWatch) -> None:
    batches = iter(loader(2))
    assert len(list(batches)) == 2
    with pytest.raises(StopIteration):
        next(batches)
    assert watch.facts()[0].batches_read == len(watch.facts()[0].wait_ns) == 2


def test_an_iterable_dataset_is_not_asked_for_its_length(watch: LoaderWatch) -> None:
    class Stream(IterableDataset[int]):
        def __iter__(self) -> Iterator[int]:
            return iter(range(4))

        def __len__(self) -> int:
            raise AssertionError("asked")

    assert sum(1 for _ in DataLoader(Stream(), batch_size=2)) == 2
    (found,) = watch.facts()
    assert (found.batches, found.samples, found.batches_read) == (None, None, 2)
    assert found.iterable is True


def test_an_iterator_from_before_the_cell() -> None:
    batches = iter(loader(5))
    next(batches)
    watch = LoaderWatch(None, lambda _: None)
    watch.install()
    try:
        next(batches)
    finally:
        watch.remove()
    (found,) = watch.facts()
    assert (found.batch_size, found.batches, found.iterations_started, found.batches_read) == (4, 5, 0, 1)


def test_workers_persist(watch: LoaderWatch) -> None:
    data = loader(4, num_workers=1, persistent_workers=True, prefetch_factor=3)
    for _ in range(2):
        assert len(list(data)) == 4
    (found,) = watch.facts()
    assert (found.workers, found.persistent_workers, found.prefetch_factor) == (1, True, 3)
    assert (found.iterations_started, found.batches_read) == (2, 8)


def test_setting_up_an_iteration_is_timed(watch: LoaderWatch) -> None:
    """GIVEN workers that are started anew for each pass: a process costs more than a batch of them."""
    data = loader(4, num_workers=1)
    for _ in range(2):
        assert len(list(data)) == 4
    (found,) = watch.facts()
    assert len(found.iteration_start_ns) == len(found.iteration_set_up_ns) == 2
    assert found.iteration_start_ns[0] < found.wait_start_ns[0] < found.iteration_start_ns[1] < found.wait_start_ns[4]
    assert min(found.iteration_set_up_ns) > 200_000


def test_an_error_of_the_dataset_passes(watch: LoaderWatch) -> None:
    class Broken(Slow):
        def __getitem__(self, index: int) -> torch.Tensor:
            raise KeyError("row 3")

    with pytest.raises(KeyError, match="row 3"):
        next(iter(DataLoader(Broken())))
    assert watch.facts()[0].batches_read == 0


def test_a_failure_of_ours_does_not_reach_the_loop() -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError

    watch = LoaderWatch(None, fail)
    watch.install()
    try:
        assert len(list(loader(3))) == 3
    finally:
        watch.remove()


def test_what_was_wrapped_around_ours_stays(watch: LoaderWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = DataLoader.__iter__
    theirs: Callable[[Any], Any] = lambda self: ours(self)  # noqa: E731
    monkeypatch.setattr(DataLoader, "__iter__", theirs)
    watch.remove()
    assert DataLoader.__iter__ is theirs
    assert len(list(loader(2))) == 2
    assert watch.facts() == ()


def test_a_loader_is_not_kept_alive(watch: LoaderWatch) -> None:
    data = loader(2)
    list(data)
    alive = weakref.ref(data)
    del data
    gc.collect()
    assert alive() is None
    assert watch.facts()[0].batches_read == 2


def test_the_end_of_each_pass_is_timed(watch: LoaderWatch) -> None:
    data = loader(2)
    for _ in range(3):
        for _ in data:
            pass
    ends = watch.facts()[0].iteration_end_ns
    assert len(ends) == 3 and min(ends) > 0


def test_loaders_that_are_made_for_each_pass_count_together() -> None:
    asked: list[int] = []
    watch = LoaderWatch(__file__, asked.append)
    watch.install()
    try:
        data = TensorDataset(torch.zeros(12, 2))
        for _ in range(3):
            for _ in DataLoader(data, 4):
                pass
    finally:
        watch.remove()
    # the first batch of a pass is asked for before its lengths are known
    assert asked == [0, 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9]


def test_loaders_that_are_read_together_do_not() -> None:
    asked: list[int] = []
    watch = LoaderWatch(__file__, asked.append)
    watch.install()
    try:
        first, second = (DataLoader(TensorDataset(torch.zeros(12, 2)), 4) for _ in range(2))
        for _ in zip(first, second, strict=True):
            pass
    finally:
        watch.remove()
    assert max(asked) == 3
