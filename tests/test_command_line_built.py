"""The command line on files that the test makes: what it prints, writes and returns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gpuprof.__main__ import main
from tests.ingest.kineto_text import compact, operator, save, span

OWN = Path(__file__).parent / "data" / "cpu-training"
NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def loop(folder: Path, name: str, wait_us: int) -> Path:
    """A trace of ten steps, each of which waits so long for its data and computes for 1 ms."""
    events = []
    for number in range(10):
        at = 100 + number * (wait_us + 1000)
        events += [span(f"ProfilerStep#{number}", at, wait_us + 1000), span(NEXT, at, wait_us)]
        events += [operator("aten::stack", at, wait_us // 2), operator("aten::mm", at + wait_us, 990)]
    return save(folder, compact(events), name)


def test_findings_json_is_one_object_and_the_status_says_whether_there_are_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["findings", str(loop(tmp_path, "slow.json", 4000)), "--json"]) == 1
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "input_stall" in [finding["rule"] for finding in json.loads(said)["findings"]]
    assert main(["findings", str(loop(tmp_path, "quick.json", 4)), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_report_writes_a_page_or_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.html"
    assert main(["report", str(OWN), "-o", str(target)]) == 0
    assert "Content-Security-Policy" in target.read_text()
    assert capsys.readouterr().out == ""
    assert main(["report", str(OWN), "-o", str(tmp_path / "no" / "out.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_compare_tells_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow, quick = loop(tmp_path, "slow.json", 4000), loop(tmp_path, "quick.json", 4)
    assert main(["compare", str(slow), str(quick), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["speedup"] == pytest.approx(5000 / 1004, rel=0.01)
    assert "input_stall" in told["findings_gone"] and told["code_diff"] is None
    assert {entry["category"] for entry in told["time_budget"]} >= {"input_wait"}
    assert main(["compare", str(slow), str(quick)]) == 0
    assert "faster than before" in capsys.readouterr().out


def test_a_truncated_recording_is_read_and_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = gzip.decompress((OWN / "kineto.json.gz").read_bytes())
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    assert main(["findings", str(cut), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["source"]["truncated"] is True
    assert "ends in the middle" in told["validity"]["doubts"][0]["sentence"]
    assert not [note for note in told["trust"]["notes"] if "ends in the middle" in note]
