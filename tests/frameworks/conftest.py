"""Tests with real training frameworks; each file is left out, in one line, where its framework is not installed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
import torch

from tests.frameworks.stopwatch import CPU_PARTS_OF_TORCHVISION

os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
_library = torch.library.Library("torchvision", "FRAGMENT")
for _operator in CPU_PARTS_OF_TORCHVISION:
    # torchvision's wheel is built for CUDA: beside a CPU build of torch its operators are missing, its Python is whole
    with contextlib.suppress(RuntimeError):
        _library.define(_operator)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUPROF_FOLDER", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Two of them that wait for each other on a busy machine take a multiple of the time."""
    torch.set_num_threads(1)
