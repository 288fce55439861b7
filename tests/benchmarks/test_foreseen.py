"""Recordings are judged again: what their findings foresee is compared with what was measured then."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.proving import foreseen
from benchmarks.proving.foreseen import of_recordings
from gpuprof.run import Run
from tests.benchmarks.test_score import recorded, result

RECORDING = Path(__file__).resolve().parents[1] / "data" / "cpu-training"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One recording under the name of a pair, of a cell, and of something that nobody measured."""
    for name in ("made.mini.bad", "a_cell", "unknown"):
        shutil.copytree(RECORDING, tmp_path / "runs" / name / "20260101-000000-aaaaaa")
    return tmp_path


def test_the_finding_that_a_pair_or_cell_is_about_is_compared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "cells.toml").write_text('a_cell = ["hardly_read", "unfused_optimizer"]\n')
    (folder / "rounds" / "a").mkdir(parents=True)
    (folder / "rounds" / "a" / "measured.json").write_text(json.dumps({"a_cell": {"gain": 0.25}, "b": {"gain": None}}))
    monkeypatch.setattr(foreseen, "CELLS", folder / "cells.toml")
    monkeypatch.setattr(foreseen, "ROUNDS", folder / "rounds")
    found = {row.name: row for row in of_recordings(folder / "runs", [result(recorded())])}
    savings = {each.rule: each.saving for each in Run.load(RECORDING).findings}
    assert set(found) == {"made", "a_cell"}

    pair, waits = found["made"], savings["input_stall"]
    assert (pair.rule, pair.measured, pair.cell) == ("input_stall", 0.5, False) and waits is not None
    # of the steps alone, which are a part of the recording
    assert waits.share < pair.central < 1.0 and pair.run_low == 0.0

    cell, optimizer = found["a_cell"], savings["unfused_optimizer"]
    assert (cell.rule, cell.measured, cell.measured_low, cell.cell) == ("unfused_optimizer", 0.25, None, True)
    assert optimizer is not None and cell.central == pytest.approx(optimizer.share, rel=0.05)
    assert cell.low == cell.run_low == 0.0 and cell.central < cell.run_high < cell.high
