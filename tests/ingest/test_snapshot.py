"""Memory snapshots of torch: what is in them, and that reading one runs nothing."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest.load import load_trace
from gpuprof.model.kinds import MemoryDevice
from gpuprof.report import Report
from tests.support.shared import shared_file

MIB = 1 << 20


def block(action: str, at_us: int, address: int, mib: float, line: int = 0) -> dict[str, Any]:
    frames = [
        {"name": "_call_impl", "filename": "/x/site-packages/torch/nn/modules/module.py", "line": 1},
        {"name": "forward", "filename": "C:\\work\\net.py", "line": line},
    ]
    return {
        "action": action,
        "addr": address,
        "size": int(mib * MIB),
        "stream": 0,
        "time_us": at_us,
        "frames": frames if line else [],
    }


def segment(allocated_mib: int, total_mib: int, device: int = 0) -> dict[str, Any]:
    return {"device": device, "address": 1, "total_size": total_mib * MIB, "allocated_size": allocated_mib * MIB}


# 10 MiB are live before; two blocks come, one goes: 14 MiB at the peak, 12 at the end
HISTORY = [
    block("segment_alloc", 100, 1, 20),
    block("alloc", 101, 2, 2, line=7),
    block("alloc", 102, 3, 2, line=8),
    block("free_requested", 103, 3, 2),
    block("free_completed", 104, 3, 2),
    block("oom", 105, 0, 99),
]
CONTENT = {"segments": [segment(12, 40)], "device_traces": [HISTORY]}


def saved(folder: Path, content: Any, protocol: int | None = None) -> Path:
    path = folder / "snapshot.pickle"
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_history_becomes_rows_whose_totals_end_where_the_snapshot_was_taken(tmp_path: Path, protocol: int) -> None:
    trace = load_trace(saved(tmp_path, CONTENT, protocol))
    memory = trace.memory
    assert memory["time_ns"].tolist() == [101_000, 102_000, 103_000]
    assert memory["bytes"].tolist() == [2 * MIB, 2 * MIB, -2 * MIB]
    assert memory["allocated_bytes"].tolist() == [12 * MIB, 14 * MIB, 12 * MIB]
    assert memory["reserved_bytes"].tolist() == [40 * MIB] * 3
    assert set(memory["device_type"]) == {MemoryDevice.CUDA}
    assert (trace.source.kind, trace.span_ns) == ("snapshot", 0)


def test_notes_say_what_was_held_and_which_lines_made_the_peak(tmp_path: Path) -> None:
    notes = " ".join(load_trace(saved(tmp_path, CONTENT)).source.notes)
    assert "12.0 MiB allocated and 40.0 MiB reserved in 1 segment, 70 % of it free" in notes
    assert "ran out of memory 1 time" in notes
    assert "2.00 MiB from net.py:7 (forward), 2.00 MiB from net.py:8 (forward)" in notes


def test_without_history_only_the_end_is_known(tmp_path: Path) -> None:
    trace = load_trace(saved(tmp_path, {"segments": [segment(3, 4, device=1)], "device_traces": [[], []]}))
    assert len(trace.memory) == 0
    assert "Device 1 when the snapshot was taken: 3.00 MiB allocated" in trace.source.notes[1]
    assert "no history of device 1" in trace.source.notes[2]
    report = Report.of(trace)
    assert "holds no history" in str(report.verdict)
    assert not any("No device was recorded" in note for note in report.trust.notes)


class Malicious:
    """Unpickled by the ordinary way, it makes a folder."""

    def __init__(self, target: Path):
        self.target = target

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "made"
    path = saved(tmp_path, {**CONTENT, "more": Malicious(target)}, protocol)
    _refused(path, ForeignFileError, f"wants to load {os.mkdir.__module__}.mkdir")
    assert not target.exists()
    pickle.loads(path.read_bytes())
    assert target.exists(), "the pickle is harmless: it proves nothing"


def test_a_persistent_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pickle"
    path.write_bytes(b"\x80\x04\x8c\x01aQ.")
    _refused(path, ForeignFileError, "an object from outside")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([1, 2], "a pickle of something else"),
        ({"segments": 3}, "a pickle of something else"),
        ({"segments": [{"device": 0}]}, "not as torch writes it (KeyError: 'allocated_size')"),
        ({"segments": [3]}, "not as torch writes it"),
        ({"segments": [], "device_traces": [[{"time_us": 1}]]}, "not as torch writes it"),
    ],
)
def test_other_pickles_are_named(content: Any, says: str, tmp_path: Path) -> None:
    _refused(saved(tmp_path, content), TraceError, says)


@pytest.mark.parametrize("length", [3, 20, -3])
def test_a_cut_pickle_is_one_line(length: int, tmp_path: Path) -> None:
    path = saved(tmp_path, CONTENT)
    path.write_bytes(path.read_bytes()[:length])
    _refused(path, UnreadableError, "this pickle cannot be read")


def _refused(path: Path, kind: type[TraceError], says: str) -> None:
    with pytest.raises(kind) as caught:
        load_trace(path)
    message = str(caught.value)
    assert says in message and str(path) in message and "; expected a memory snapshot" in message
    assert "\n" not in message


@pytest.mark.recordings
def test_the_recorded_snapshot() -> None:
    """Figures computed from the file by hand: 1,721 allocations, all released again, over 216 segments."""
    trace = load_trace(shared_file("snapshots/cuda-memory-snapshot.pickle"))
    moved = trace.memory["bytes"]
    assert ((moved > 0).sum(), (moved < 0).sum(), moved.sum()) == (1721, 1721, 0)
    assert trace.memory["allocated_bytes"][-1] == 1_377_753_600
    use = Results(trace).get(MemoryPeak).primary
    assert use is not None and use.peak_allocated_bytes is not None
    assert use.peak_reserved_bytes == 14_180_941_824
    assert 1_377_753_600 < use.peak_allocated_bytes <= use.peak_reserved_bytes
    assert "13.0 GiB are allocated and 13.2 GiB reserved" in str(Report.of(trace).verdict)
