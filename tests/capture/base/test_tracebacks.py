"""The traceback of a user's exception holds what it would hold without gpuprof."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from gpuprof.capture.loading.loaders import LoaderWatch
from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.capture.session.session import Session
from tests.capture.cells import loader, train, train_from


class Broken(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> torch.Tensor:
        raise ValueError("a broken sample")


class Refusing(Dataset[torch.Tensor]):
    def __getstate__(self) -> Any:
        raise ValueError("not to be sent to a worker")

    def __len__(self) -> int:
        return 3


class Nested(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        yield from DataLoader(Broken())


def frames_of(run: Callable[[], object], kind: type[BaseException] = ValueError) -> list[tuple[str, str]]:
    with pytest.raises(kind) as raised:
        run()
    return [(frame.filename, frame.name) for frame in traceback.extract_tb(raised.value.__traceback__)]


def read_one(data: DataLoader[Any]) -> object:
    return next(iter(data))


@pytest.mark.parametrize(
    "data",
    [
        DataLoader(Broken()),
        DataLoader(Nested(), batch_size=None),
        DataLoader(Refusing(), num_workers=1, multiprocessing_context="spawn"),
    ],
    ids=["a sample", "a loader within one", "starting its workers"],
)
def test_a_failing_dataset_has_the_frames_of_the_plain_loop(data: DataLoader[Any]) -> None:
    plain = frames_of(lambda: read_one(data))
    watch = LoaderWatch(__file__, lambda _: None)
    watch.install()
    try:
        watched = frames_of(lambda: read_one(data))
    finally:
        watch.remove()
    assert watched == plain


@pytest.mark.parametrize("cell", [train, lambda: train_from(loader(10))], ids=["optimizer", "loader"])
def test_a_ctrl_c_at_the_end_of_the_window_shows_none_of_our_frames(
    new_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch, cell: Callable[[], None]
) -> None:
    stop = KinetoRecording.stop

    def interrupted(recording: KinetoRecording) -> None:
        signal.raise_signal(signal.SIGINT)
        stop(recording)

    session = new_session(steps=2, skip=0)
    session.start()
    monkeypatch.setattr(KinetoRecording, "stop", interrupted)
    frames = frames_of(cell, KeyboardInterrupt)
    monkeypatch.undo()
    captured = session.stop(KeyboardInterrupt())
    assert captured.context.window is not None and captured.context.window.ended_by == "steps"
    assert frames and not [frame for frame in frames if "gpuprof/capture" in frame[0] or "contextlib" in frame[0]]
