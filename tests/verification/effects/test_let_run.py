"""What harms nothing is measured: code that never runs, reading, memory, workers."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from gpuprof.verification import measure_cells
from gpuprof.verification.cells.hooks import Hooks, Listener
from gpuprof.verification.cells.variants import CellVariant
from gpuprof.verification.effects.watch import watched
from tests.verification.effects.let_run import LET_RUN
from tests.verification.effects.programs import fill, prepared, tree


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", LET_RUN)
def test_it_runs(name: str, folder: Path) -> None:
    names, cell = prepared(LET_RUN[name], 0)
    before, cwd = tree(folder), Path.cwd()
    with watched([names]) as watch:
        hooks = Hooks(watch)
        with hooks.installed():
            assert CellVariant("the cell", cell, names).run(hooks, Listener())
        watch.run_ended(pools=True)
        assert watch.stopped is None
    os.chdir(cwd)
    assert tree(folder) == before


def test_there_are_enough_of_them() -> None:
    assert len(LET_RUN) >= 20


def test_a_whole_comparison_with_workers(folder: Path) -> None:
    names, cell = prepared(LET_RUN["workers"], 0)
    verdict = measure_cells(cell, cell.replace("num_workers=2", "num_workers=1"), names, budget_s=20.0, most_pairs=1)
    assert verdict.pairs == 1


def test_all_is_put_back_and_asleep(folder: Path) -> None:
    import torch
    from torch.utils.data._utils import worker

    def doors() -> list[object]:
        held = [torch._C.PyTorchFileWriter.__init__, torch.from_file, torch.UntypedStorage.from_file, os.write]
        return [*held, threading.Thread.start, sys.unraisablehook, threading.excepthook, worker._worker_loop, input]

    before, own = doors(), "from_file" in vars(torch.UntypedStorage)
    with watched([{}]):
        assert doors() != before
    assert doors() == before and ("from_file" in vars(torch.UntypedStorage)) is own
    Path("new.txt").write_text("x")
    torch.save({}, "new.pt")


def test_threads_of_others_go_on(folder: Path) -> None:
    """An earlier cell's thread writes its log while something is measured."""
    go, done = threading.Event(), threading.Event()

    def log() -> None:
        go.wait(10)
        threading.Thread(target=Path("log.txt").write_text, args=("x",)).start()
        Path("other.txt").write_text("x")
        done.set()

    threading.Thread(target=log).start()
    with watched([{}]) as watch:
        go.set()
        assert done.wait(10) and watch.stopped is None
    assert Path("other.txt").exists()
