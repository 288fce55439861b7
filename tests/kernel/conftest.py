"""One kernel a test file: starting one and importing torch is most of the cost of a test here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kernel import LiveKernel, live_kernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    with live_kernel(tmp_path_factory.mktemp("notebook")) as live:
        live.run("import os, time, asyncio, torch, gpuprof")
        yield live


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """A file by which a cell tells the test that it runs."""
    return tmp_path / "running"
