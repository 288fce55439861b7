"""A run survives a cell that uses up the file descriptors of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.capture.process import descriptors
from gpuprof.capture.process.descriptors import KEPT, DescriptorReserve

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no limits to set")

CELL = """
import os, resource, sys
import torch, gpuprof
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
held = []
with gpuprof.profile(folder=sys.argv[1]) as run:
    for step in range(20):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
        if step == 5:
            try:
                while True:
                    held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                pass
for number in held:
    os.close(number)
print(len(held) > 100, run.unsaved, run.to_dict()["source"]["steps"] > 10, len(gpuprof.history(sys.argv[1])))
"""


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd").iterdir()}


def test_they_are_held_and_given_back() -> None:
    before = open_descriptors()
    reserve = DescriptorReserve()
    reserve.take()
    assert len(open_descriptors() - before) == KEPT
    reserve.release()
    reserve.release()
    assert open_descriptors() == before


def test_a_number_that_has_become_the_users_stays_open(tmp_path: Path) -> None:
    reserve = DescriptorReserve()
    reserve.take()
    taken = reserve._held[-1]
    with (tmp_path / "users.txt").open("w") as file:
        os.dup2(file.fileno(), taken)
        reserve.release()
        os.write(taken, b"still open")
    os.close(taken)
    assert (tmp_path / "users.txt").read_text() == "still open"


def test_few_are_taken_where_few_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "_allowed", lambda: 32)
    reserve = DescriptorReserve()
    reserve.take()
    assert len(reserve._held) == 4
    reserve.release()


def test_a_run_is_saved_although_its_cell_used_up_all_descriptors(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CELL, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True None True 1"], done.stderr
