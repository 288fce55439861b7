"""The harness around real programs: what is measured is only as right as this."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks.observer import cells as names
from benchmarks.observer import figures
from benchmarks.observer.__main__ import bring_all
from benchmarks.observer.adapters import ADAPTERS, Adapter
from benchmarks.observer.cells import Notebook, cells_of
from benchmarks.observer.instrument import AT, HERE, Instrumenter, LineClock, statement_of
from benchmarks.observer.measure import runs
from benchmarks.observer.page import page, show
from benchmarks.observer.programs import Program, ProgramError, fetch, programs, source
from benchmarks.observer.stopwatch import Stopwatch
from benchmarks.observer.turns import Turns
from benchmarks.observer.worker import folded, play
from benchmarks.proving.fresh import write_json

TEXT = """import torch
from torchvision import datasets, transforms
loader = torch.utils.data.DataLoader(datasets.MNIST("", transform=transforms.ToTensor()), batch_size=4)
net = torch.nn.Linear(784, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def train(x, y):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(
        net(x.view(len(x), -1)),
        y,
    ).backward()
    optimizer.step()

for epoch in range(2):
    for i, (x, y) in enumerate(loader):
        train(x, y)
"""
ADAPTER = Adapter(cell_from="for epoch", steps=("optimizer.step()",), loader="loader", images=(48, 0))


def program(text: str = TEXT) -> Program:
    return Program("small", "some/one", "0" * 40, "a/main.py", "MIT", hashlib.sha256(text.encode()).hexdigest())


# manifest and fetching


def test_every_program_of_the_manifest_has_an_adapter():
    found = programs()
    assert set(found) == set(ADAPTERS)
    for each in found.values():
        assert len(each.commit) == 40
        assert len(each.sha256) == 64
        assert each.url().endswith(f"/{each.repository}/{each.commit}/{each.path}")


def test_two_programs_of_one_name_are_refused(tmp_path: Path):
    entry = '[[program]]\nname = "a"\nrepository = ""\ncommit = ""\npath = ""\nlicense = ""\nsha256 = ""\n'
    (tmp_path / "manifest.toml").write_text(entry * 2)
    with pytest.raises(ProgramError, match="same name"):
        programs(tmp_path / "manifest.toml")


def test_a_program_is_taken_from_a_folder_and_checked(tmp_path: Path):
    local, target = tmp_path / "local", tmp_path / "target"
    path = local / program().place
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    assert fetch(program(), target, local) == f"from {path}"
    assert fetch(program(), target, local) == "already here"
    assert source(program(), target) == TEXT
    with pytest.raises(ProgramError, match="sha256"):
        fetch(program("another"), tmp_path / "elsewhere", local)
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(ProgramError, match="is missing"):
        source(program(), tmp_path)


def test_what_cannot_be_brought_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert bring_all(tmp_path / "target", None, (tmp_path / "nowhere").as_uri()) == 1
    assert capsys.readouterr().out.count("could not be downloaded") == len(programs())


# cells


def test_the_cells_keep_their_lines():
    cells = cells_of(TEXT, ADAPTER)
    assert cells.before.splitlines()[3] == TEXT.splitlines()[3]
    assert f"{names.STEP_BEGINS}(); optimizer.step(); {names.STEP_ENDS}(True)" in cells.before
    assert f"enumerate({names.TIMED}(loader))" in cells.measured
    assert cells.plain.splitlines()[1:] == cells.profiled.splitlines()[1:]


@pytest.mark.parametrize("change", [("optimizer.step()", "step()"), ("for epoch", "for one"), ("(loader)", "(other)")])
def test_a_program_that_is_not_as_the_adapter_says_is_refused(change):
    with pytest.raises(ProgramError):
        cells_of(TEXT.replace(*change), ADAPTER)


# the stopwatch of lines

SLEEPS = """
def slow(seconds):
    time.sleep(seconds)
    return seconds

class Inner:
    def twice(self):
        for n in range(2):
            if n:
                time.sleep(0.02)
                continue
            slow(0.02)

Inner().twice()
while time.sleep(0.01):
    pass
with open(os.devnull):
    time.sleep(
        0.03)
slow(0.01); time.sleep(0.02)
"""


def test_time_belongs_to_the_innermost_statement():
    clock = LineClock()
    code = compile(Instrumenter(0).visit(ast.parse(SLEEPS)), "cell", "exec")
    clock.restart()
    exec(code, {AT: clock.at, HERE: clock.here, "time": time, "os": os})
    clock.at(None)
    spent = {place[1]: round(seconds, 2) for place, seconds in clock.seconds.items() if place and seconds > 0.005}
    assert sorted(spent) == [3, 10, 15, 18, 20]
    least = {3: 0.03, 10: 0.02, 15: 0.01, 18: 0.03, 20: 0.02}
    assert all(spent[line] >= wanted for line, wanted in least.items())


def test_a_cell_that_defines_things_is_only_followed_in_its_functions():
    tree = Instrumenter(1).visit(ast.parse("from __future__ import annotations\nx = 1\ndef f():\n    return x\n"))
    text = ast.unparse(tree)
    assert text.startswith("from __future__")
    assert text.count(f"{AT}((1, ") == 1


def test_lines_of_a_statement_are_one():
    first = statement_of(TEXT)
    assert [first[line] for line in (9, 10, 11, 12, 13)] == [9, 9, 9, 9, 13]
    cells = cells_of(TEXT, ADAPTER)
    assert folded({(1, 9): 0.25, (1, 11): 0.25, (0, 2): 0.5}, cells) == {"1:9": 0.5, "0:2": 0.5}


# the stopwatch of iterations, and turns


def test_waits_and_steps_count_for_their_iteration():
    watch = Stopwatch()
    for _ in watch.timed(range(3)):
        watch.step_begins()
        watch.step_ends(False)
        watch.step_begins()
        watch.step_ends(True)
    found = watch.to_dict()
    assert {len(each) for each in found.values()} == {2}
    assert all(
        wall >= wait + step
        for wall, wait, step in zip(found["wall_s"], found["wait_s"], found["optimizer_s"], strict=True)
    )


def test_blocks_are_compared_with_their_neighbors():
    blocks = [{"watched": watched, "cpu_s": [cpu] * 10} for watched, cpu in ((False, 1.0), (True, 1.3), (False, 1.6))]
    assert figures.block_ratios(blocks, "cpu_s") == [pytest.approx(1.0)]
    assert figures.hook_seconds(blocks, "cpu_s") == pytest.approx(0.0)


def test_what_was_added_is_told_by_one_run_alone():
    plain = {"iterations": {"cpu_s": [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]}, "cpu_s": 8.0, "children_s": 0.0}
    profiled = {
        "iterations": {"cpu_s": [8.0, 4.0, 4.0, 2.0, 2.0, 2.0]},
        "cpu_s": 25.0,
        "children_s": 1.0,
        "plain_from": 1,
        "leaving": {"cpu_s": 3.0, "children_s": 1.0},
    }
    (found,) = figures.added({("a", "plain"): [plain], ("a", "profiled"): [profiled]}, "a")
    assert (found.recording, found.leaving, found.sampler) == (8.0, 3.0, 1.0)
    assert found.ratio == pytest.approx(26 / 14)


def test_turns_take_the_sides_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.observer.turns._BLOCK_S", 0.001)
    monkeypatch.setattr("benchmarks.observer.turns._SETTLE_S", 0.001)
    turns = Turns(tmp_path, "")
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.0)
    for _ in range(60):
        optimizer.step()
        time.sleep(0.001)
        turns.step_ends(True)
    blocks = turns.finish()
    assert [each["watched"] for each in blocks[:3]] == [False, True, False]


# the whole way


def played(variant: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["test"])
    (folder / variant).mkdir()
    return play(TEXT, ADAPTER, variant, folder / variant)


def test_a_program_is_played_in_every_way_and_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for module in ("torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.utils"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    kept = tmp_path / "kept"
    for variant in ("plain", "profiled", "stopwatch", "turns", "exact"):
        found = played(variant, tmp_path, monkeypatch)
        assert len(found["iterations"]["wall_s"]) == (0 if variant == "turns" else 23)
        if variant == "stopwatch":
            assert {"1:8", "1:9", "1:13", "0:3", "0:4"} <= set(found["lines"])
            assert 0.5 < sum(found["lines"].values()) <= 1.0 + 1e-9
        if variant == "exact":
            assert set(found["both"]) in (set(), {"seconds", "samples", "exact", "sampled"})
            assert not found["both"] or sys.version_info >= (3, 12)
        if variant == "profiled":
            assert found["plain_from"] < 23
            assert {"0:1"}.isdisjoint(found["lines_beside"])
        if variant == "turns":
            found["turns"] = [{"watched": bool(n % 2), "cpu_s": [1.0]} for n in range(5)]
        if variant != "exact":  # which `measure` does not run
            write_json(kept / f"small.{variant}.1.json", {**found, "load": 1.0})
    written = page(runs(kept), ["small", "other"], date="2026-01-01", commit="abc", machine="1 core")
    assert "Not measured: other." in written
    assert "| small | 1.000 (1.000 to 1.000) | 2 |" in written


def test_what_a_cell_raises_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        Notebook().run("1 / 0")


def test_a_ratio_is_shown_with_what_it_lies_between():
    assert show(figures.Ratio.spread([1.0, 1.01, 1.2])) == "1.010 (1.000 to 1.200)"
    assert show(figures.Ratio.interval([2.0, 2.0])) == "2.00 (2.00 to 2.00)"
