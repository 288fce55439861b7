"""Processes that a cell starts to work for it are named; workers of loaders are none."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import gpuprof
from gpuprof.capture.process.children import ChildrenWatch
from gpuprof.run import Run

BUSY_S = 2.0
BURN = f"import time\nend = time.time() + {BUSY_S}\nwhile time.time() < end: pass"


def burn(rank: int = 0) -> None:
    end = time.time() + BUSY_S
    while time.time() < end:
        pass


def profiled(rank: int, folder: str) -> None:
    with gpuprof.profile(name="inside", folder=folder):
        torch.ones(4, 4) @ torch.ones(4, 4)


def names(watch: ChildrenWatch) -> list[tuple[str, int]]:
    return [(each.name, each.count) for each in watch.facts()]


@pytest.fixture
def watch() -> ChildrenWatch:
    return ChildrenWatch()


def wait_for(process: subprocess.Popen[bytes] | BaseProcess, watch: ChildrenWatch) -> None:
    alive = process.is_alive if isinstance(process, BaseProcess) else lambda: process.poll() is None
    while alive():
        watch.tick(0)
        time.sleep(0.05)


def test_a_function_in_a_process_of_its_own(watch: ChildrenWatch) -> None:
    original = BaseProcess.start
    watch.begin()
    process = multiprocessing.get_context("fork").Process(target=burn)
    process.start()
    wait_for(process, watch)
    watch.end()
    assert names(watch) == [("burn", 1)]
    assert watch.facts()[0].cpu_ns > 0
    assert BaseProcess.start is original


def test_a_command(watch: ChildrenWatch) -> None:
    before = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    watch.begin()
    command = subprocess.Popen([sys.executable, "-c", BURN])
    wait_for(command, watch)
    watch.end()
    before.kill()
    before.wait()
    ((name, count),) = names(watch)
    assert name.startswith(f"{Path(sys.executable).name} -c") and count == 1


class Starting:
    """A process whose arguments the system does not tell at the first look."""

    def __init__(self, words: list[str]):
        self._answers = iter([[], words])

    def name(self) -> str:
        return "python"

    def cmdline(self) -> list[str]:
        return next(self._answers)

    def cpu_times(self) -> SimpleNamespace:
        return SimpleNamespace(user=1.0, system=0.0, children_user=0.0, children_system=0.0)

    def children(self, recursive: bool) -> list[object]:
        return []


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["python", "train.py"], [("python train.py", 1)]), (["python", "-m", "multiprocessing.spawn"], [])],
)
def test_a_process_gets_its_name_once_its_arguments_can_be_read(
    watch: ChildrenWatch, words: list[str], expected: list[tuple[str, int]]
) -> None:
    process = Starting(words)
    watch._read(7, process)
    assert names(watch) == [("python", 1)]
    watch._read(7, process)
    assert names(watch) == expected


def test_workers_of_a_loader_are_none(watch: ChildrenWatch) -> None:
    watch.begin()
    for _ in DataLoader(TensorDataset(torch.zeros(8, 2)), 4, num_workers=2, multiprocessing_context="fork"):
        watch._read_at = 0.0
        watch.tick(0)
    watch.end()
    assert names(watch) == []


def test_a_launched_function_is_named_and_can_be_profiled_inside(tmp_path: Path) -> None:
    with gpuprof.profile(folder=tmp_path / "outside") as run:
        torch.multiprocessing.spawn(profiled, args=(str(tmp_path / "inside"),), nprocs=1)
    assert str(run.report_data.verdict).startswith("The cell’s work ran in 1 process that it started (`profiled`)")
    (recorded,) = (tmp_path / "inside").glob("*/recording.json")
    assert Run.load(recorded.parent).trace.context.cell.name == "inside"  # type: ignore[union-attr]


class Odd:
    """Raises whatever it is asked."""

    def __call__(self) -> None: ...

    def __getattr__(self, name: str) -> object:
        raise ZeroDivisionError(name)


def around_itself() -> list[object]:
    values: list[object] = []
    values.append(values)
    return values


@pytest.mark.parametrize("make", [lambda: [Odd()], around_itself, lambda: [[[[[[Odd()]]]]]], lambda: [0] * 10**6])
def test_no_argument_of_a_process_keeps_it_from_starting(watch: ChildrenWatch, make: Callable[[], object]) -> None:
    def launch(values: object) -> None: ...

    launch.__module__ = "torch.multiprocessing.spawn"  # only the arguments of a launcher are read
    watch.begin()
    process = multiprocessing.get_context("fork").Process(target=launch, args=(make(),))
    try:
        process.start()
        process.join()
    finally:
        watch.end()
    assert process.exitcode == 0 and len(watch.facts()) == 1
