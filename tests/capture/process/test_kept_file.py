from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.capture.process.kept_file import KeptFile


def test_each_reading_is_of_now(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    path.write_bytes(b"1 2 3\n")
    kept = KeptFile(str(path))
    assert kept.read() == b"1 2 3\n"
    path.write_bytes(b"4 5\n")
    assert kept.read() == b"4 5\n"
    kept.close()


def test_a_word_that_was_cut_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b" ".join(b"%d" % each for each in range(2_000)))
    kept = KeptFile(str(path))
    words = kept.read().split()
    kept.close()
    assert [int(each) for each in words] == list(range(len(words))) and len(words) > 800


def test_closed_it_holds_no_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    path.write_bytes(b"1")
    before = len(list(Path("/proc/self/fd").iterdir()))
    kept = KeptFile(str(path))
    kept.read()
    assert len(list(Path("/proc/self/fd").iterdir())) == before + 1
    kept.close()
    kept.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_what_is_not_there_is_said_each_time(tmp_path: Path) -> None:
    kept = KeptFile(str(tmp_path / "missing"))
    for _ in range(2):
        with pytest.raises(OSError):
            kept.read()
    kept.close()
