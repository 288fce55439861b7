"""Without the public recordings the suite is whole: tests that need them are left out, and one line says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
READERS = re.compile(r"\bshared_(file|path|facts)\b")


def without_recordings(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """That pytest, where no folder has them."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "-q", *map(str, arguments)]
    absent = {**os.environ, "GPUPROF_TRACES": str(folder / "absent")}
    return subprocess.run(command, cwd=ROOT, env=absent, capture_output=True, text=True, timeout=280)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_one_line_says_how_many_are_left_out(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = without_recordings(tmp_path, *workers, "tests/ingest/test_load.py", "tests/whatif/test_calibration.py")
    said = [line for line in done.stdout.splitlines() if "make traces" in line]
    assert done.returncode == 0, done.stdout
    assert len(said) == 1 and re.fullmatch(
        r"2 tests need the public recordings, \d+ of which are missing here: run `make traces`", said[0]
    )
    assert "SKIPPED" not in done.stdout


def test_every_test_that_reads_one_by_itself_is_marked(tmp_path: Path) -> None:
    """The fixtures mark their tests; a test that opens a file is marked by hand, and would fail here if it were not."""
    files = [
        path for path in sorted(TESTS.rglob("test_*.py")) if READERS.search(path.read_text()) and path != Path(__file__)
    ]
    done = without_recordings(tmp_path, "-m", "not kernel and not browser", *files)
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
    assert done.stdout.count("make traces") == 1
