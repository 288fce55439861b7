"""What other tools say of a round's cells, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.rounds import others

CELL = "NAME = 'a'\nFAULT = CURE = None\nGOOD = '''\nimport torch\nx = torch.ones(3)\n'''\n"


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    for name in ("a01_one", "a02_two"):
        (tmp_path / f"{name}.py").write_text(CELL, encoding="utf-8")
    return tmp_path


def test_each_cell_is_asked_about_once(
    cells: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def tidy(module: str, arguments: list[str], **options: Any) -> dict[str, Any]:
        asked.append(Path(arguments[-1]).stem)
        return {"advice": ["FP32MatMulPattern"]} if len(asked) == 1 else {"error": "it took | longer"}

    monkeypatch.setattr(others, "in_fresh_process", tidy)
    monkeypatch.setattr(
        others.pypi_gpuprof,
        "advise",
        lambda pair, variant, size, device, site: {"advice": [], "said": [pair.bad.source]},
    )
    call = [str(cells), "--site", str(tmp_path), "-o", str(tmp_path / "said")]
    assert others.main(call) == 0
    first = capsys.readouterr().out
    assert "| a01_one | FP32MatMulPattern | nothing |\n| a02_two | not run: it took / longer | nothing |" in first
    assert others.main([*call[:1], "a02_two", *call[1:]]) == 0
    assert "a01_one" not in capsys.readouterr().out and asked == ["a01_one", "a02_two"]
    assert '"import torch\\nx = torch.ones(3)\\n"' in (tmp_path / "said" / "a01_one.json").read_text("utf-8")


def test_torchtidy_runs_in_a_process_of_its_own(cells: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    within = [str(cells), "--site", str(tmp_path), "--within", str(cells / "a01_one.py"), "-o", str(answer)]
    assert others.main(within) == 0
    assert '"advice": []' in answer.read_text("utf-8")
