"""A trimmed run is small and still a run: steps, links and findings stay as they were."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.gpu_check import cells, training
from benchmarks.gpu_check.trim import findings_of, trim
from gpuprof.ingest.load import load_trace
from gpuprof.run import Run
from tests.support.shared import shared_path

RECORDED = Path(__file__).resolve().parents[1] / "data" / "cpu-training"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A capture of this machine, made now."""
    namespace = training.sized("mini", "cpu", steps=12)
    cells.enter(training.SETUP, namespace)
    folder = tmp_path_factory.mktemp("runs")
    return cells.play(training.CELL, namespace, folder=folder, skip=0, steps=10, max_seconds=120.0).run


def test_a_fresh_recording_keeps_its_lines_and_some_steps(own, tmp_path):
    trimmed = Run.load(trim(own.folder, tmp_path / "trimmed", steps=3)).trace
    assert len(trimmed.steps) == 3
    assert set(trimmed.steps["duration_ns"]) <= set(own.trace.steps["duration_ns"])
    assert len(trimmed.line_events) < len(own.trace.line_events) or not len(own.trace.line_events)
    assert trimmed.context.window.steps_recorded == 3


def test_a_recording_keeps_its_findings(tmp_path):
    assert findings_of(trim(RECORDED, tmp_path / "trimmed")) == findings_of(RECORDED)


@pytest.mark.recordings
@pytest.mark.parametrize("name", ["v100-ddp-memory-nccl", "a100-sam-fewer-syncs"])
def test_device_work_stays_with_its_launches(name, tmp_path):
    source = shared_path(name)
    whole, trimmed = load_trace(source), load_trace(trim(source, tmp_path / "trimmed.json.gz", steps=1))
    events = trimmed.device_events
    assert 0 < len(events) < len(whole.device_events)
    assert (events["call"] >= 0).all()
    assert set(events["correlation"]) <= set(whole.device_events["correlation"])
    assert set(trimmed.steps["duration_ns"]) <= set(whole.steps["duration_ns"])
    assert [device.name for device in trimmed.devices] == [device.name for device in whole.devices]


@pytest.mark.recordings
def test_the_largest_size_is_kept_to_by_fewer_steps(tmp_path):
    source = shared_path("v100-resnet50-workers0")
    small = trim(source, tmp_path / "small.json.gz", steps=4, most_bytes=400_000)
    assert small.stat().st_size <= 400_000
    assert 1 <= len(load_trace(small).steps) < 4


@pytest.mark.recordings
def test_python_frames_go_where_nothing_else_helps(tmp_path):
    source = shared_path("h100-owlv2-dataloader-stacks")
    assert len(load_trace(trim(source, tmp_path / "t.json.gz", most_bytes=10_000)).frames) == 0


def test_nothing_names_the_machine(tmp_path):
    event = {"ph": "X", "cat": "cpu_op", "name": "/home/somebody/cell.py(3): f", "ts": 5.0, "dur": 1.0}
    trace = {"schemaVersion": 1, "traceName": "/home/somebody/t.json", "traceEvents": [event]}
    source = tmp_path / "t.json"
    source.write_text(json.dumps(trace))
    text = gzip.decompress(trim(source, tmp_path / "t.json.gz").read_bytes())
    assert b"somebody" not in text
    assert b"cell.py(3): f" in text
