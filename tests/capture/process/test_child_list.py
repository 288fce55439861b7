"""The children of this process, each told by one object for as long as it runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from gpuprof.capture.process.child_list import ChildList
from gpuprof.capture.process.kept_file import KeptFile


@pytest.fixture
def child() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.parametrize("listed", [True, False], ids=["by the kernel", "by psutil"])
def test_a_known_child_is_the_same_object(child: int, monkeypatch: pytest.MonkeyPatch, listed: bool) -> None:
    """GIVEN a system that lists children, and one that does not: `cpu_percent` of a new object is always 0."""
    if not listed:

        def refuses(_: KeptFile) -> bytes:
            raise FileNotFoundError

        monkeypatch.setattr(KeptFile, "read", refuses)
    children = ChildList()
    first = children.read()
    again = children.read(first)
    children.close()
    assert first[child].pid == child and again[child] is first[child]
