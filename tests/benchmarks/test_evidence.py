from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.proving import evidence
from benchmarks.proving.evidence import keep, write_pages
from benchmarks.proving.packed import compact, file_name
from benchmarks.proving.traces import TraceLabel, labels, scored
from tests.benchmarks.test_score import finding, recorded, result
from tests.support.shared import NAMES

MACHINE = {"torch": "2.13.0", "processor": "a processor", "torch_threads": 1, "devices": []}
ADVICE = [{"name": "loading", "covers": ["input_stall"], "severity": "medium"}]


def stored(folder: Path, **changes: Any) -> None:
    """One result below the folder, as `collect` writes it."""
    bad, good = (_whole(recorded(*findings)) for findings in ([finding("input_stall", saving=(40, 45, 60))], []))
    made = {**result(bad, good), "made": "2026-11-20T12:00:00+00:00", **changes}
    made["label"].update(guard="exact", shows_on="cpu", published="nobody")
    (folder / "others").mkdir(parents=True, exist_ok=True)
    (folder / "made.mini.cpu.json").write_text(json.dumps(made))
    said = {
        variant: {tool: {"advice": ADVICE} for tool in ("torchtidy", "tensorboard_plugin")}
        for variant in made["variants"]
    }
    for each in said.values():
        each["pypi_gpuprof"] = {"error": "it was not installed"}  # type: ignore[assignment]
    whose = {"pair": "made", "size": "mini", "device": "cpu", "said": said}
    (folder / "others" / "made.mini.cpu.json").write_text(json.dumps(whose))


def _whole(made: dict[str, Any]) -> dict[str, Any]:
    made.update(arguments="", cell_seconds=1.0, environment=MACHINE, run="/somewhere/private/run")
    made["report"]["source"].update(steps=8, step_ms=1.0, path="/somewhere/private/run")
    for each in made["report"]["findings"]:
        each.update(title="", evidence={"path": "/somewhere/private"})
    return made


@pytest.fixture(autouse=True)
def no_traces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evidence, "TRACES", tmp_path / "none")


def test_pages_are_made_from_what_is_kept(tmp_path: Path) -> None:
    stored(tmp_path / "results")
    (kept,) = keep(tmp_path / "results", tmp_path / "data")
    assert kept.name == "cpu.json" and "private" not in kept.read_text()
    pages = {path.name: path.read_text() for path in write_pages(tmp_path)}
    assert "| CPU | none | 2.13.0 |" in pages["index.md"] and "| 2026-11-20 | 1 | 1 |" in pages["index.md"]
    assert "| `input_stall` | 1 | 0 | 0 | 0 | 1 | 0 | 100 % | 100 % |" in pages["scores.md"]
    assert "| 45 % (40 to 60) | 50 % (44 to 55) | step | 5.0 points | yes |" in pages["prediction.md"]
    tidy = next(line for line in pages["comparison.md"].splitlines() if line.startswith("| TorchTidy"))
    assert "| 50 % |" in tidy, "right on the fault, false on the cured cell"
    assert "2 cells: it was not installed" in pages["comparison.md"]


def test_pages_without_any_measurement_say_so(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pages = {path.name: path.read_text() for path in write_pages(tmp_path)}
    assert "Nothing has been measured yet." in pages["index.md"] and "On a GPU nothing" in pages["index.md"]


def test_what_is_kept_names_no_folder() -> None:
    failed = {"error": "exit status 1: File /home/someone/work/cell.py, line 3"}
    assert compact(result(failed, _whole(recorded())))["variants"]["bad"] == {
        "error": "exit status 1: File …/cell.py, line 3"
    }


def test_files_are_named_after_the_device() -> None:
    assert file_name({"device": "NVIDIA H200"}) == "nvidia-h200.json"


def test_a_trace_is_judged_only_by_what_is_known_of_it() -> None:
    label = TraceLabel("made", shows=("input_stall", "launch_bound"), lacks=("small_batch",), why="")
    score = scored(label, ["input_stall", "small_batch", "fp32_matmul"])
    assert (score.found, score.missed) == (("input_stall",), ("launch_bound",))
    assert (score.false, score.unjudged) == (("small_batch",), ("fp32_matmul",))


def test_every_labelled_trace_is_one_that_there_is() -> None:
    assert {label.name for label in labels()} <= set(NAMES)
