"""What a GPU check found becomes a page, fixtures for the tests and results of the pairs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks.gpu_check import evidence
from benchmarks.gpu_check.evidence_page import page
from benchmarks.gpu_check.store import Store
from gpuprof.model.recording import is_recording
from gpuprof.run import Run

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "data" / "cpu-training"
FIXTURES = sorted(path for path in evidence.FIXTURES.glob("*") if is_recording(path))

REPEATED = {
    "variant": "ours",
    "rounds": 100,
    "profiles": [{"kernels": 100, "clock_ok": True}, {"kernels": 63, "clock_ok": False}],
}


@pytest.fixture
def checked(tmp_path):
    """The output of a check that found one fault and crashed once."""
    store = Store(tmp_path / "out")
    store.describe(device_kind="cuda", date="2026-01-01", python="3.12.3", system="Linux x86_64")
    expectations = {"second profile: every kernel, after its launch": False, "all operators": True}
    store.put("repeated:ours", {"status": "did not hold", "facts": REPEATED, "expectations": expectations})
    store.put("capture", {"status": "crashed", "traceback": "Traceback\nValueError: a | b"})
    label = {"number": 1, "family": "input_pipeline"}
    common = {"schema": 1, "pair": "workers0", "size": "balanced", "device": "cuda", "label": label}
    run = {"files": store.add_files("pair:record:workers0:balanced", RECORDED)}
    store.put("pair:record:workers0:balanced", {"status": "held", "facts": {**common, "variants": {"bad": {}}}, **run})
    store.put("pair:measure:workers0:balanced", {"status": "held", "facts": {**common, "measured": {"ratio": 2.0}}})
    return tmp_path / "out"


def test_the_page_says_what_fell_short(checked):
    text = page(*evidence.merged([checked]))
    assert "| repeated:ours | **does not hold**: second profile: every kernel, after its launch |" in text
    assert "| capture | crashed: ValueError: a \\| b |" in text
    assert "| ours | 100 | 100, 63* |" in text
    assert "1 expectations held" in text


def test_tables_are_even(checked):
    for block in re.findall(r"(?:^\|.*\|\n)+", page(*evidence.merged([checked])), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_recordings_become_fixtures_that_load(checked, tmp_path):
    (folder,) = evidence.fixtures([checked], tmp_path / "fixtures")
    assert folder.name == "pair-workers0-balanced"
    assert len(Run.load(folder).trace.steps)


def test_what_was_recorded_and_measured_of_a_pair_is_one_result(checked, tmp_path):
    (path,) = evidence.pairs(evidence.merged([checked])[0], tmp_path / "pairs")
    found = json.loads(path.read_text())
    assert path.name == "workers0.balanced.cuda.json"
    assert (found["variants"], found["measured"], found["memory"]) == ({"bad": {}}, {"ratio": 2.0}, None)


def test_a_later_folder_fills_in_what_an_earlier_lacks(checked, tmp_path):
    other = Store(tmp_path / "later")
    other.put("repeated:ours", {"status": "begun", "attempts": 1})
    other.put("machine", {"status": "held"})
    results, _ = evidence.merged([checked, tmp_path / "later"])
    assert results["repeated:ours"]["status"] == "did not hold"
    assert results["machine"]["status"] == "held"


def test_a_rehearsal_is_no_evidence(tmp_path, monkeypatch):
    Store(tmp_path).describe(device_kind="cpu")
    monkeypatch.setattr(sys, "argv", ["evidence", str(tmp_path)])
    with pytest.raises(SystemExit, match="no evidence"):
        evidence.main()


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"there is no results\.json"):
        evidence.merged([tmp_path])


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda path: path.name)
def test_recordings_from_a_gpu_load_and_report(folder):
    run = Run.load(folder)
    assert run.text()
    assert run.trace.device_recorded is not None
