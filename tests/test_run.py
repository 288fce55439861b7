"""A Run: loading, tables, pictures, reports, comparison."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import gpuprof
from gpuprof.errors import GpuprofError, UsageError
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

OWN = Path(__file__).parent / "data" / "cpu-training"


@pytest.fixture(scope="module")
def run() -> gpuprof.Run:
    return gpuprof.load(OWN)


def test_the_recording_in_the_repository_is_told_whole(run):
    # GIVEN the run that tests/data/record.py recorded: a slow dataset, a for-loop optimizer, .item() every step
    told = run.to_dict()
    assert told["source"]["kind"] == "recording"
    assert told["source"]["torch"].startswith("2.13.0")
    assert told["devices"] == []
    assert told["source"]["steps"] in (5, 6)
    # THEN the three faults are found
    assert [finding["rule"] for finding in told["findings"]] == ["input_stall", "unfused_optimizer", "sync_in_step"]
    assert sum(entry["ms"] for entry in told["time_budget"]) == pytest.approx(told["source"]["span_ms"], rel=1e-3)


def test_our_own_marks_are_no_part_of_the_run(run):
    assert not [name for name in run.tables["user_ranges"]["name"] if name.startswith("gpuprof.")]


def test_text_names_the_faults_and_adds_up(run):
    text = run.text()
    assert "No GPU in this run" in text
    assert "100 %" in text
    assert "num_workers=1" in text


def test_tables_are_frames_with_names_spelt_out(run):
    operators = run.tables["operators"]
    assert len(operators) == len(run.trace.operators)
    assert "aten::addmm" in set(operators["name"])
    assert set(run.tables) == set(run.trace.tables)


def test_the_report_is_one_file(run, tmp_path):
    written = run.write_html(tmp_path / "out.html")
    page = written.read_text()
    assert written == tmp_path / "out.html"
    assert "<script src" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_report_that_cannot_be_written_is_one_clear_line(run, tmp_path):
    with pytest.raises(GpuprofError, match=r"cannot be written .*; name another file"):
        run.write_html(tmp_path / "missing" / "out.html")


def test_the_bundle_holds_text_and_html_but_no_widget(run):
    bundle = run._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}


def test_compares_with_runs_and_paths_only(run):
    with pytest.raises(UsageError, match="compare: got int; expected a Run, or the path"):
        run.compare(3)


def test_compares_with_itself_as_no_difference(run):
    assert run.compare(OWN).sentence().startswith("No difference")


@pytest.mark.recordings
def test_ranks_are_loaded_together(tmp_path):
    with tarfile.open(shared_file("ranks/v100-dlrm-8ranks.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    run = gpuprof.load(next(path for path in tmp_path.iterdir() if path.is_dir()))
    told = run.to_dict()
    assert told["source"]["ranks"] == list(range(8))
    assert len(run.traces) == 8
    assert any(
        "8 ranks were loaded; figures that name no rank are those of rank 0." in note for note in told["trust"]["notes"]
    )


def test_tables_spell_names_and_kinds_out():
    trace = TraceBuilder().kernel("gemm", 0, 5).copy("h2d", 10, 5, bytes=4096, host_memory="pinned").build()
    events = gpuprof.Run(trace).tables["device_events"]
    assert events["kind"].tolist() == ["kernel", "copy"]
    assert events.query("kind == 'copy'")["host_memory"].tolist() == ["pinned"]
    with pytest.raises(KeyError, match="there is no table 'copies'; there are operators, "):
        gpuprof.Run(trace).tables["copies"]
