from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset
from torch.utils.data._utils.fetch import _MapDatasetFetcher

import gpuprof
from gpuprof.capture.loading import load_times, timed_transforms
from gpuprof.capture.loading.lengths import LENGTHS
from gpuprof.capture.loading.load_times import LoadTimes
from gpuprof.capture.process.core_times import thread_times


class Compose:
    def __init__(self, *transforms: Any):
        self.transforms = list(transforms)

    def __call__(self, value: Any) -> Any:
        for transform in self.transforms:
            value = transform(value)
        return value


Compose.__module__ = "torchvision.transforms.transforms"


class Clock:
    """What the work below took, were it alone on the machine; stands for the module `time` where that is asked for."""

    def __init__(self) -> None:
        self.wall_ns = self.cpu_ns = self.pauses = 0

    def perf_counter_ns(self) -> int:
        return self.wall_ns

    def process_time_ns(self) -> int:
        return self.cpu_ns


clock = Clock()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are those of `clock`: another program on the machine changes none."""
    monkeypatch.setattr(load_times, "time", clock)
    monkeypatch.setattr(timed_transforms, "time", clock)
    monkeypatch.setattr(load_times, "_blocked", lambda: clock.pauses)
    monkeypatch.setattr(LoadTimes, "_core_waits", lambda self: {1: 0})


def pause() -> None:
    time.sleep(0.004)
    clock.wall_ns += 4_000_000
    clock.pauses += 1


class Pause:
    def __call__(self, value: Any) -> Any:
        pause()
        return value


def compute(value: Any) -> Any:
    until = time.thread_time_ns() + 1_000_000
    while time.thread_time_ns() < until:
        pass
    clock.wall_ns += 1_000_000
    clock.cpu_ns += 1_000_000
    return value


class Photos(Dataset[Any]):
    def __init__(self, transform: Any, count: int = 24):
        self.transform, self.count = transform, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.transform(index)


@pytest.fixture
def times() -> Iterator[LoadTimes]:
    times = LoadTimes()
    times.begin()
    yield times
    LENGTHS.forget()
    times.end()


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_and_transforms_of_every_process(times: LoadTimes, workers: int) -> None:
    data = Photos(Compose(Pause(), compute))
    LENGTHS.watch(data)
    assert len(list(DataLoader(data, batch_size=4, num_workers=workers))) == 6
    times.end()
    (found,) = times.facts()
    timed = 6 - max(workers, 1)  # without the first of each process
    assert (found.dataset, found.dataset_samples, found.batched) == ("Photos", 24, False)
    assert (found.batches, found.samples, found.processes) == (timed, 4 * timed, max(workers, 1))
    pause, computing = found.transforms
    assert (pause.name, pause.calls, computing.name, computing.calls) == ("Pause", 4 * timed, "compute", 4 * timed)
    assert 4e6 * 4 * timed <= pause.duration_ns < found.sample_ns
    assert 1e6 * 4 * timed <= computing.duration_ns < found.sample_ns
    assert found.cpu_ns >= 1e6 * 4 * timed
    assert found.blocked is None or found.blocked >= 4 * timed
    known = thread_times(os.getpid(), os.getpid()) is not None
    assert (found.core_wait_ns or 0) >= 0 and (found.core_wait_ns is not None) == known


def test_a_single_transform_of_a_subset(times: LoadTimes) -> None:
    data = Photos(compute)
    list(DataLoader(Subset(data, range(8)), batch_size=2))
    times.end()
    (found,) = times.facts()
    assert (found.dataset, found.source, found.dataset_samples, found.batched) == ("Subset", "Photos", 8, False)
    assert [(each.name, each.calls) for each in found.transforms] == [("compute", 6)]
    assert data.transform is compute


def test_the_users_objects_are_as_they_were(times: LoadTimes) -> None:
    parts = [Pause(), compute]
    data = Photos(Compose(*parts))
    timed = _MapDatasetFetcher.fetch
    list(DataLoader(data, batch_size=12))
    assert data.transform.transforms == parts
    times.end()
    assert _MapDatasetFetcher.fetch is not timed


def test_the_stand_in_passes_for_the_transform(times: LoadTimes) -> None:
    class Asking(Photos):
        def __getitem__(self, index: int) -> Any:
            assert isinstance(self.transform, Pause)
            return super().__getitem__(index)

    assert len(list(DataLoader(Asking(Pause(), 2)))) == 2


def test_transforms_that_change_their_own_list(times: LoadTimes) -> None:
    transform = Compose(compute, Pause())

    def forget(value: Any) -> Any:
        transform.transforms = [compute]
        parts.clear()
        return value

    transform.transforms.insert(0, forget)
    parts = transform.transforms
    assert len(list(DataLoader(Photos(transform, 2)))) == 2
    assert transform.transforms == [compute]


def test_an_error_of_the_user_shows_no_frame_of_ours(times: LoadTimes) -> None:
    def broken(_: Any) -> Any:
        raise ValueError("mine")

    data = Photos(Compose(broken))
    with pytest.raises(ValueError, match="mine") as caught:
        list(DataLoader(data))
    assert data.transform.transforms == [broken]
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files[-1] == __file__
    assert not any("gpuprof/capture" in file for file in files if "tests" not in file)


def test_only_the_first_batches_are_timed(times: LoadTimes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_times, "MOST_BATCHES", 3)
    assert len(list(DataLoader(Photos(compute)))) == 24
    times.end()
    assert times.facts()[0].batches == 2


def test_its_length_is_not_asked(times: LoadTimes) -> None:
    asked = []

    class Counting(Photos):
        def __len__(self) -> int:
            asked.append(1)
            return super().__len__()

    batches = iter(DataLoader(Counting(compute, 6)))
    before = len(asked)
    for _ in batches:
        pass
    assert len(asked) == before + 1  # the sampler's own


def test_nothing_was_read(times: LoadTimes) -> None:
    times.end()
    assert times.facts() == ()


class Remote(Photos):
    def __getitem__(self, index: int) -> Any:
        pause()
        return index


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (Photos(Compose(compute), 96), "slow_transform"),
        (Remote(None, 96), "per_sample_fetch"),
        (Photos(Compose(Pause()), 96), "input_stall"),
    ],
    ids=["computes", "waits", "a transform waits"],
)
def test_a_whole_run_tells_why_its_batches_are_slow(tmp_path: Path, data: Photos, rule: str) -> None:
    """GIVEN a loop that only waits for its data THEN the run names the cause that was measured, and no other."""
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    with gpuprof.profile(folder=tmp_path, no_nvml=True) as run:
        for batch in DataLoader(data, batch_size=8):
            optimizer.zero_grad()
            (weight * batch.sum()).sum().backward()
            optimizer.step()
    assert run.folder is not None
    for known in (run, gpuprof.load(run.folder)):
        (loading,) = known.trace.context.loadings
        assert (loading.source, loading.samples) == (type(data).__name__, 56)
        found = {finding.rule for finding in known.findings} & {"slow_transform", "per_sample_fetch", "input_stall"}
        assert found == {rule}
