"""The previous run of a cell is found although its code was changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.model.context import Cell, CellOutcome, RunContext
from gpuprof.model.recording import write_context
from gpuprof.profiling.previous_run import previous_of
from gpuprof.run import Run
from tests.support.trace_builder import TraceBuilder

TRAINING = "for x, y in loader:\n    loss = model(x, y)\n    loss.backward()\n    optimizer.step()\n"
FASTER = TRAINING.replace("loader:", "DataLoader(data, num_workers=2):")


def saved(folder: Path, number: int, source: str, cell_id: str | None = None, *, error: str | None = None) -> Path:
    made = folder / f"run-{number}"
    made.mkdir()
    cell = Cell(source=source, cell_id=cell_id)
    outcome = CellOutcome(error=error) if error else CellOutcome()
    write_context(made, RunContext(created_ns=number, cell=cell, outcome=outcome))
    return made


def run_of(folder: Path, source: str, cell_id: str | None = None) -> Run:
    made = saved(folder, 50, source, cell_id)
    trace = TraceBuilder().operator("aten::mm", 0, 1)
    trace = trace.context(cell=Cell(source=source, cell_id=cell_id), created_ns=50).build()
    return Run(trace, folder=made)


def test_it_is_known_by_its_id_through_an_edit(tmp_path: Path) -> None:
    # GIVEN an earlier run of the cell, and a later one of a copy whose code is nearer
    first = saved(tmp_path, 1, TRAINING, "a")
    saved(tmp_path, 2, FASTER, "b")
    # THEN the id decides
    assert previous_of(run_of(tmp_path, FASTER, "a")) == first


def test_without_an_id_it_is_known_by_its_code(tmp_path: Path) -> None:
    saved(tmp_path, 1, "import torch\nmodel = make()\n")
    first = saved(tmp_path, 2, f"# %%gpuprofile --name a\n{TRAINING}")
    saved(tmp_path, 3, "evaluate(model)")
    assert previous_of(run_of(tmp_path, f"# %%gpuprofile\n{FASTER}")) == first


@pytest.mark.parametrize("cell_id", ["a", None])
def test_other_code_is_another_cell(tmp_path: Path, cell_id: str | None) -> None:
    # GIVEN a cell that was rewritten from scratch
    saved(tmp_path, 1, "import pandas as pd\nframe = pd.read_csv('a.csv')", cell_id)
    assert previous_of(run_of(tmp_path, TRAINING, cell_id)) is None


LOOP = "for i in range(30):\n    loss = criterion(model(data[:64]), labels[:64]); loss.backward(); optimizer.step()\n"


@pytest.mark.parametrize(("cell_id", "same"), [("a", True), ("b", False), (None, False)])
def test_few_lines_that_do_something_else_are_another_cell(tmp_path: Path, cell_id: str | None, same: bool) -> None:
    first = saved(tmp_path, 1, f"{LOOP}    save(model, 'a.pt')", "a")
    later = f"import time\n{LOOP}    time.sleep(0.02)"
    assert previous_of(run_of(tmp_path, later, cell_id)) == (first if same else None)


def test_few_lines_changed_a_little_are_the_same_cell(tmp_path: Path) -> None:
    first = saved(tmp_path, 1, f"{LOOP}    save(model, 'a.pt')", "a")
    assert previous_of(run_of(tmp_path, LOOP.replace("30", "60") + "    save(model, 'b.pt')")) == first


def test_a_run_that_raised_is_passed_over(tmp_path: Path) -> None:
    first = saved(tmp_path, 1, TRAINING)
    saved(tmp_path, 2, TRAINING, error="KeyboardInterrupt")
    assert previous_of(run_of(tmp_path, TRAINING)) == first


def test_a_run_that_was_not_saved_has_none(tmp_path: Path) -> None:
    saved(tmp_path, 1, TRAINING)
    trace = TraceBuilder().operator("aten::mm", 0, 1).context(cell=Cell(source=TRAINING)).build()
    assert previous_of(Run(trace)) is None
