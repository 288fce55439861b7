from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
import torch

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler import trace_file
from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.capture.profiler.trace_file import discard, has_open_events, pack, save_trace
from tests.capture.cells import events

SLACK_NS = 1_000_000  # to which the two clocks are held to agree
ODD_NAMES = ['say "hello"', "C:\\users\\new", 'a", "pid": 3', 'ends with "', "plain", 'both " and \\', "größe µs"]


def recorded(*names: str) -> KinetoRecording:
    recording = KinetoRecording(CaptureOptions())
    recording.start()
    for name in names:
        with torch.profiler.record_function(name):
            torch.ones(2)
    recording.stop()
    return recording


def test_names_that_break_the_profilers_json_are_mended(tmp_path: Path) -> None:
    saved, problem = save_trace(recorded(*ODD_NAMES), tmp_path)
    assert problem is None
    assert saved.whole
    spans = [event["name"] for event in events(saved.path) if event["cat"] == "user_annotation"]
    assert len(spans) == len(ODD_NAMES)
    assert spans[0] == 'say "hello"'
    assert spans[4] == "plain"
    assert saved.events["user_annotation"] == len(ODD_NAMES)
    assert saved.events["cpu_op"] == len([event for event in events(saved.path) if event["cat"] == "cpu_op"])


@pytest.mark.parametrize(
    "layout",
    ['"cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1,\n', '"cat": "cpu_op",\n    "name": "{}",\n    "pid": 1,\n'],
)
@pytest.mark.parametrize("name", ['a "quoted" name', "back\\slash", "fine", 'x", y'])
def test_both_layouts_of_the_profiler(tmp_path: Path, layout: str, name: str) -> None:
    raw = tmp_path / "raw.json"
    event = '  {\n    "ph": "X", ' + layout.format(name) + '    "args": {\n "name": "python"\n }\n  }'
    raw.write_text('{\n  "traceEvents": [\n' + event + "\n]}\n")
    pack(raw, tmp_path / "packed.json.gz")
    assert events(tmp_path / "packed.json.gz")[0]["name"] == name


def test_pieces_do_not_tear_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "_CHUNK_BYTES", 333)
    saved, _ = save_trace(recorded(*ODD_NAMES, "gpuprof.clock"), tmp_path)
    assert len(events(saved.path)) == sum(saved.events.values()) - saved.events.get("fwdbwd", 0)
    assert len(saved.clock_marks_ns) == 1


def test_clock_marks_are_unix_time(tmp_path: Path) -> None:
    before = time.time_ns()
    saved, _ = save_trace(recorded("gpuprof.clock"), tmp_path)
    (mark,) = saved.clock_marks_ns
    assert before - SLACK_NS <= mark <= time.time_ns() + SLACK_NS
    # months after the trace's base a float has no nanoseconds left
    trace = json.loads(gzip.decompress(saved.path.read_bytes()), parse_float=Decimal)
    (event,) = [event for event in trace["traceEvents"] if event.get("name") == "gpuprof.clock"]
    assert mark == trace["baseTimeNanoseconds"] + round(event["ts"] * 1000)


def test_a_trace_cut_off_is_said_to_be(tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    raw.write_text('{\n "traceEvents": [\n  {\n    "ph": "X", "cat": "cpu_op", "na')
    assert not pack(raw, tmp_path / "packed.json.gz").whole


def test_without_room_in_the_folder_the_trace_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = trace_file.pack

    def full(raw: Path, packed: Path) -> trace_file.SavedTrace:
        if packed.parent == tmp_path:
            packed.write_bytes(b"the first bytes")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(raw, packed)

    monkeypatch.setattr(trace_file, "pack", full)
    saved, problem = save_trace(recorded("a"), tmp_path)
    assert problem is not None and problem.errno == errno.ENOSPC
    assert saved.path.parent != tmp_path
    assert len(events(saved.path)) > 0
    assert list(tmp_path.iterdir()) == []


def test_ranges_that_were_cut_are_seen(tmp_path: Path) -> None:
    recording = KinetoRecording(CaptureOptions())
    recording.start()
    first, second = torch.profiler.record_function("first"), torch.profiler.record_function("second")
    first.__enter__()
    second.__enter__()
    torch.ones(2)
    first.__exit__(None, None, None)
    recording.stop()
    second.__exit__(None, None, None)
    assert has_open_events(recording)
    raw = recording.saved_at
    saved, problem = save_trace(recording, tmp_path)
    assert (problem, saved.whole) == (None, True)
    assert raw is not None and not raw.parent.exists()


def test_ranges_that_were_closed_are_not_open() -> None:
    recording = recorded("closed")
    assert not has_open_events(recording)
    discard(recording)
    assert recording.saved_at is None


def test_memory_rows_are_not_open_ranges() -> None:
    recording = KinetoRecording(CaptureOptions(memory=True, stacks=True, shapes=True))
    recording.start()
    torch.ones(2)
    recording.stop()
    assert not has_open_events(recording)


def test_a_recording_without_results_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no recording"):
        save_trace(KinetoRecording(CaptureOptions()), tmp_path)


def test_the_temporary_folder_goes_with_its_process_only() -> None:
    code = (
        "import os, sys\n"
        "from gpuprof.capture.profiler.trace_file import temporary_folder\n"
        "folder = temporary_folder()\n"
        "if os.fork() == 0:\n"
        "    sys.exit()\n"
        "os.wait()\n"
        "print(folder, folder.is_dir())\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    folder, present = output.split()
    assert present == "True"
    assert not Path(folder).exists()
