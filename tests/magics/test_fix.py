from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.magics.fix import script_of
from gpuprof.model.context import Cell


def run_of(cell: Cell | None) -> Any:
    return SimpleNamespace(trace=SimpleNamespace(context=SimpleNamespace(cell=cell)))


@pytest.mark.parametrize(("name", "script"), [("train.py", True), ("ipykernel_1/2.py", False)])
def test_a_cell_that_the_debugger_wrote_to_disk_is_no_script(tmp_path: Path, name: str, script: bool) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x = 1")
    assert script_of(run_of(Cell(source="x = 1", filename=str(path)))) == (path if script else None)


def test_a_file_that_is_gone_is_no_script() -> None:
    assert script_of(run_of(None)) is None
    assert script_of(run_of(Cell(source="", filename="nowhere.py"))) is None
