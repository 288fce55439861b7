"""The fake driver, and sessions that write into a temporary folder and are always ended."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Cell
from tests.capture.ticks import Bench
from tests.support.fake_nvml.fixtures import FakeNvml, _remove_folder, load_nvml, nvml

__all__ = ["_remove_folder", "bench", "ctrl_c", "load_nvml", "new_session", "nvml"]


@pytest.fixture
def bench(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Samplers of the fake driver whose readings and clock the test controls."""
    return Bench(monkeypatch)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, as in a notebook, even where the suite was started with it ignored (as by nohup)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def new_session(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """`new_session(steps=5)` is a Session, not started, without NVML; `cell` is the file that counts as its cell."""
    made: list[Session] = []

    def make(*, cell: str | None = None, **options: Any) -> Session:
        chosen = {"folder": tmp_path / "runs", "no_nvml": True, **options}
        session = Session(CaptureOptions(**chosen), cell=None if cell is None else Cell(source="", filename=cell))
        made.append(session)
        return session

    yield make
    for session in made:
        if session.running:
            session.stop()
