"""What was found for a cell is kept beside the run, and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.errors import RecordingError
from gpuprof.model.recording import FILES
from gpuprof.model.tuned import TUNED, Tuned, read_tuned, write_tuned

FOUND = Tuned(settings=("fused=True",), source="x = 1\n", ratio=1.2, text="fused", tuning={"turns": 9}, created_ns=1)


def test_it_is_read_as_written(tmp_path: Path) -> None:
    assert read_tuned(tmp_path) is None
    write_tuned(tmp_path, FOUND)
    assert read_tuned(tmp_path) == FOUND and TUNED in FILES


def test_a_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / TUNED).write_text("[{]")
    with pytest.raises(RecordingError, match=r"tuned\.json: .*; expected what %gputune found"):
        read_tuned(tmp_path)
