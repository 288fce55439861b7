"""Real programs as notebooks: cells, the place of the fix, what has neither phase nor place."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.observer.programs import ProgramError
from benchmarks.programs import cart_pole
from benchmarks.programs.__main__ import all_programs
from benchmarks.programs.notebook import Recipe, cells_of, places
from benchmarks.programs.packages import install
from benchmarks.programs.recipes import RECIPES
from benchmarks.programs.score import score, table
from benchmarks.rounds.unplaced import main, unplaced
from gpuprof.capture.stacks import folding
from tests.analyses.accounts.cells import cell, line
from tests.support.trace_builder import TraceBuilder

SCRIPT = """import torch

class Net:
    pass

def main():
    # Settings
    net = Net()
    for epoch in range(100):
        train(net)

if __name__ == "__main__":
    main()
"""
RECIPE = Recipe(
    fix="less",
    fix_lines=("train(net)", "pass"),
    fix_calls=("slow",),
    opened=("def main",),
    dropped=("if __name__",),
    cuts=("class Net", "# Settings", "for epoch"),
    edits=(("range(100)", "range(2)"),),
)


def test_a_script_becomes_cells_that_are_its_own_lines() -> None:
    cells = cells_of(SCRIPT, RECIPE)
    assert cells == ["import torch", "class Net:\n    pass", "# Settings\nnet = Net()", LOOP]
    assert places(cells, RECIPE.fix_lines) == {(4, 2), (2, 2)}


LOOP = "for epoch in range(2):\n    train(net)"


@pytest.mark.parametrize(
    "wrong",
    [{"opened": ("def other",)}, {"dropped": ("else",)}, {"cuts": ("class Other",)}, {"edits": (("range(3)", ""),)}],
)
def test_a_source_that_is_not_as_the_recipe_says_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ProgramError):
        cells_of(SCRIPT, replace(RECIPE, **wrong))
    with pytest.raises(ProgramError):
        places(["a"], ("b",))


def test_cells_of_a_notebook_are_chosen_by_number() -> None:
    given = {"cells": [{"source": ["import torch\n"]}, {"source": ["# text"]}, {"source": ["for x in y:\n", "    x"]}]}
    assert cells_of(json.dumps(given), Recipe(fix="", fix_lines=(), cells=(0, 2)))[1] == "for x in y:\n    x"


def test_every_program_has_a_recipe() -> None:
    found = all_programs()
    assert set(found) == set(RECIPES)
    assert all(len(each.commit) == 40 and len(each.sha256) == 64 for each in found.values())


def said(*spots: dict[str, Any], findings: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"json": {"hot_spots": list(spots), "findings": list(findings)}}


def spot(
    line: int, cell: int | None = None, cell_line: int | None = None, what: str = "", lines: tuple[int, ...] = ()
) -> dict[str, Any]:
    several = [{"line": each, "share": 0.03} for each in lines]
    at = {"profiled": cell is None, "cell": cell or 6, "line": line, "cell_line": cell_line or line}
    return {**at, "lines": several, "what": what}


def finding(line: int, severity: str) -> dict[str, Any]:
    return {"rule": "some", "severity": severity, "where": {"lines": [line]}}


@pytest.mark.parametrize(
    ("told", "by"),
    [
        # the magic is line 1 of the profiled cell; In [4] is the second cell, after two of ours
        (said(spot(9), spot(3)), "hot spot 2, its line"),
        (said(spot(2, cell=4, cell_line=9)), "hot spot 1, its line"),
        (said(spot(2, cell=3, cell_line=9)), ""),
        (said(spot(9, cell=4, cell_line=9, lines=(2, 9))), "hot spot 1, one of its 2 lines"),
        (said(spot(2, cell=9, cell_line=3)), "hot spot 1, its line"),
        (said(spot(9, what="a.b.slow")), "hot spot 1, its call"),
        (said(findings=(finding(3, "high"),)), "finding some"),
        ({"error": "NameError"}, "the cell failed"),
    ],
)
def test_the_place_of_the_fix_is_found_by_line_or_call(told: dict[str, Any], by: str) -> None:
    assert score("x", cells_of(SCRIPT, RECIPE), RECIPE, told).by == by


def test_findings_stand_by_severity() -> None:
    told = said(findings=(finding(9, "high"), finding(9, "low")))
    scored = score("x", cells_of(SCRIPT, RECIPE), RECIPE, told)
    assert (scored.alarms, scored.minor) == (("some (high)",), ("some (low)",))
    assert "| x | less | no | some (high) | some (low) |" in table([scored])


def test_the_packages_are_there_for_a_program(tmp_path: Path) -> None:
    install(tmp_path)
    code = "import gymnasium, tiktoken, torchvision.datasets as d; from torchvision import transforms; d.MNIST; "
    code += "print(tiktoken.get_encoding('gpt2').decode([72, 105, 5000]), gymnasium.make('x').reset(seed=1)[0].shape)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "Hi? (4,)\n"


def test_a_pole_that_is_pushed_one_way_falls_the_other() -> None:
    pole = cart_pole.make("CartPole-v1")
    pole.reset(seed=3)
    steps = [pole.step(1) for _ in range(30)]
    fallen = next(number for number, step in enumerate(steps) if step[2])
    assert 5 < fallen < 20 and steps[fallen][0][2] < 0 < steps[fallen][0][0]


def test_what_has_neither_phase_nor_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(folding, "_library_folders", lambda _: ["/lib/"])
    builder = TraceBuilder().stack(0, 60_000, line(5)).stack(60_000, 30_000, ("/home/me/net.py", "forward", 4))
    builder.stack(90_000, 10_000, ("/lib/a.py", "f", 1))
    found = unplaced(cell(builder))
    assert (found["neither"], found["no_phase"], found["no_line"]) == (pytest.approx(0.4), 1.0, pytest.approx(0.4))
    assert found["largest"] == "/home/me/net.py: forward" and found["largest_share"] == pytest.approx(0.3)
    (tmp_path / "one.json").write_text(json.dumps({"unplaced": unplaced(TraceBuilder().build())}))
    (tmp_path / "two.json").write_text(json.dumps({"unplaced": found}))
    (tmp_path / "old.json").write_text("{}")
    assert main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "| two | 40.0% | 100.0% | 40.0% | /home/me/net.py: forward, 30.0% |\n| one | not sampled" in out
    assert out.endswith("1 of 1 cells.\n")
