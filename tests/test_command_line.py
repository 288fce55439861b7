"""The command line: outputs, exit statuses, one line for what cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.__main__ import main
from tests.support.shared import shared_path


@pytest.mark.recordings
def test_findings_json_is_one_object_on_stdout(capsys):
    status = main(["findings", str(shared_path("a100-copies-pageable")), "--json"])
    out = capsys.readouterr().out
    told = json.loads(out)
    assert status == 1
    assert out.count("\n") == 1
    assert [finding["rule"] for finding in told["findings"]] == ["pageable_h2d_copy"]


def test_the_schema_of_findings_is_printed_without_a_path(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["findings", "--schema"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["properties"]["schema"] == {"const": 2}


@pytest.mark.recordings
def test_findings_exits_0_where_there_are_none(capsys):
    assert main(["findings", str(shared_path("a100-copies-pinned")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


@pytest.mark.parametrize("command", [["findings"], ["report", "-o", "never.html"], ["compare", "other.json"]])
def test_an_unreadable_file_is_one_line_on_stderr(tmp_path, capsys, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.json").write_text('{"shopping": ["milk"]}')
    status = main([command[0], "notes.json", *command[1:]])
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert said.err.startswith("gpuprof: notes.json") or said.err.startswith("gpuprof: other.json")
    assert said.err.count("\n") == 1
    assert "expected" in said.err


@pytest.mark.recordings
def test_report_writes_a_page(tmp_path, capsys):
    target = tmp_path / "out.html"
    assert main(["report", str(shared_path("a100-copies-pageable")), "-o", str(target)]) == 0
    assert "Content-Security-Policy" in target.read_text()
    assert capsys.readouterr().out == ""


@pytest.mark.recordings
def test_report_into_a_missing_folder_says_so(tmp_path, capsys):
    assert main(["report", str(shared_path("a100-copies-pageable")), "-o", str(tmp_path / "no" / "out.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.recordings
def test_compare_tells_both(tmp_path, capsys):
    before, after = (str(shared_path(f"a100-copies-{kind}")) for kind in ("pageable", "pinned"))
    assert main(["compare", before, after, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["speedup"] > 1.5
    assert "pageable_h2d_copy" in told["findings_gone"]


def test_rules_lists_and_explain_explains(capsys):
    assert main(["rules", "--json"]) == 0
    names = [rule["rule"] for rule in json.loads(capsys.readouterr().out)["rules"]]
    assert "input_stall" in names
    for name in names:
        assert main(["explain", name]) == 0
        assert "When to leave it" in capsys.readouterr().out


def test_explain_of_an_unknown_rule_names_near_ones(capsys):
    assert main(["explain", "input_stal"]) == 2
    assert "input_stall" in capsys.readouterr().err


@pytest.mark.recordings
def test_a_truncated_file_is_read_and_marked(tmp_path, capsys):
    whole = gzip.decompress(shared_path("h100-transformer-tiny-kernels").read_bytes())
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    assert main(["findings", str(cut), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["source"]["truncated"] is True
    assert "ends in the middle" in told["validity"]["doubts"][0]["sentence"]


def test_a_file_nested_too_deeply_is_one_line_and_status_2(tmp_path, capsys, monkeypatch):
    deep = tmp_path / "deep.json"
    deep.write_text('{"traceEvents": [{"ph": "X", "args": ' + "[" * 60_000 + "]" * 60_000 + "}]}")
    assert main(["findings", str(deep)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("gpuprof: ") and said.count("\n") == 1 and "nested" in said
    monkeypatch.setenv("GPUPROF_DEBUG", "1")
    assert main(["findings", str(deep)]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_failure_of_ours_is_one_line_and_status_2(tmp_path, capsys, monkeypatch):
    from gpuprof.run import Run

    def broken(path):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(Run, "load", broken)
    assert main(["findings", "a.json"]) == 2
    assert capsys.readouterr().err == "gpuprof: ZeroDivisionError: two lines; GPUPROF_DEBUG=1 shows where\n"


def _run(*arguments, stdout):
    command = [sys.executable, "-m", "gpuprof", *map(str, arguments)]
    folder = Path(__file__).resolve().parents[1]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=folder, timeout=120)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.recordings
def test_a_full_disk_is_one_line_and_status_2():
    with Path("/dev/full").open("w") as full:
        ended = _run("findings", shared_path("a100-copies-pageable"), stdout=full)
    assert ended.returncode == 2
    assert ended.stderr.startswith("gpuprof: ") and ended.stderr.count("\n") == 1


@pytest.mark.recordings
def test_a_reader_that_has_gone_does_not_change_the_status():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = _run("findings", shared_path("a100-copies-pageable"), stdout=writing)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.parametrize("named", ["train.py", "data"])
def test_report_overwrites_nothing_but_a_page(tmp_path, capsys, named):
    target = tmp_path / named
    target.write_text("precious")
    with pytest.raises(SystemExit) as ended:
        main(["report", "any.json", "-o", str(target)])
    assert ended.value.code == 2 and "ends in .html" in capsys.readouterr().err
    assert target.read_text() == "precious"
