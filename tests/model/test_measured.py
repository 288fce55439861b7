"""What was measured is kept beside the run, and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.errors import RecordingError
from gpuprof.model.measured import MEASURED, Measured, read_measured, write_measured

MADE = Measured(number=1, rule="input_stall", text="measured 1.27×", measurement={"pairs": 14}, created_ns=1)


def test_it_is_read_as_written(tmp_path: Path) -> None:
    assert read_measured(tmp_path) == ()
    write_measured(tmp_path, (MADE, MADE))
    assert read_measured(tmp_path) == (MADE, MADE)


def test_a_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / MEASURED).write_text("[{]")
    with pytest.raises(RecordingError, match=r"measured\.json: .*; expected what %gputry measured"):
        read_measured(tmp_path)
