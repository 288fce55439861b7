"""Memory snapshots of torch: what is in them, and that reading one runs nothing."""

from __future__ import annotations

import copy
import os
import pickle
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest import snapshot
from gpuprof.ingest.load import load_trace
from gpuprof.ingest.snapshot import load_snapshot
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


def test_of_a_long_name_the_first_hundred_letters_are_told(tmp_path: Path) -> None:
    path = tmp_path / "foreign.pickle"
    path.write_bytes(b"\x80\x02c" + b"m" * 60 + b"\n" + b"n" * 80 + b"\n.")
    _refused(path, ForeignFileError, f"wants to load {'m' * 60}.{'n' * 39}, which")


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


def twice(value: Any, levels: int = 60) -> Any:
    """A list of twice the same list, and so on: 2 to the power of `levels` leaves, in a few hundred bytes."""
    for _ in range(levels):
        value = [value, value]
    return value


def with_frame(**frame: Any) -> dict[str, Any]:
    event = {**block("alloc", 101, 2, 2), "frames": [{"name": "f", "filename": "a.py", "line": 1, **frame}]}
    return {"segments": [segment(12, 40)], "device_traces": [[event]]}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (with_frame(name=twice("x")), "`name` is a list where a name should stand"),
        (with_frame(filename=twice("x")), "`filename` is a list where a name should stand"),
        (with_frame(filename={"a": twice("x")}), "`filename` is a dict where a name should stand"),
        (with_frame(line=twice(1)), "`line` is a list where a number should stand"),
        (with_frame(line="1"), "`line` is a str where a number should stand"),
        ({"segments": twice({})}, "`segments` should be a list of dictionaries"),
        ({"segments": [{**segment(1, 2), "device": twice(1)}]}, "`device` is a list where a number should stand"),
        ({"segments": [segment(1, 2, device=-1)], "device_traces": [HISTORY]}, "`device` should be between 0 and 1023"),
        ({"segments": [segment(1, 2, device=10**9)]}, "`device` should be between 0 and 1023"),
        ({"segments": [], "device_traces": [[{}, *HISTORY], "text"]}, "`device_traces` should be a list of dict"),
        ({"segments": [], "device_traces": twice(HISTORY)}, "two devices share one history"),
        ({"segments": [], "device_traces": [[block("alloc", 2**62, 1, 1)]]}, "not as torch writes it (OverflowError"),
        ({"segments": [], "device_traces": [[{**HISTORY[1], "size": 2**70}]]}, "not as torch writes it (OverflowError"),
        ({"segments": [], "device_traces": 7}, "not as torch writes it (TypeError"),
    ],
)
def test_what_torch_does_not_write_is_one_line(content: Any, says: str, tmp_path: Path) -> None:
    _refused(saved(tmp_path, content), UnreadableError, says)


MANY = 100_000


@pytest.mark.timeout(120)
@pytest.mark.parametrize("which", ["frames", "file name", "name", "segments"])
def test_what_stands_in_many_places_is_read_once(which: str, tmp_path: Path) -> None:
    """Each would take 10 thousand million looks where every place were looked through."""
    library = {"name": "f", "filename": "/x/site-packages/a.py", "line": 1}
    own = {"name": "f", "filename": "/y/net.py", "line": 1}
    long = "/x/site-packages/" + "a" * 50 * MANY
    events = [block("alloc", at, at, 1) for at in range(MANY if which in ("frames", "file name") else 1000)]
    frames = [library] * MANY if which == "frames" else [{**library, "filename": long}]
    for event in events:
        event["frames"] = frames if which == "frames" else [dict(frames[0])]
        if which == "name":
            event["frames"] = [{**own, "name": long}]
    segments = [segment(1, 2, device=number % 1000) for number in range(MANY if which == "segments" else 1)]
    trace = load_trace(saved(tmp_path, {"segments": segments, "device_traces": [events]}))
    assert len(trace.memory) == len(events)
    assert max(map(len, trace.source.notes)) < 1000


def test_a_file_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    path = saved(tmp_path, CONTENT)
    os.truncate(path, 3 << 30)  # takes no room on the disk
    _refused(path, UnreadableError, "the file has 3.00 GiB, more than 2.00 GiB")


def test_no_memory_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr(snapshot, "read_plain", fail)
    _refused(saved(tmp_path, CONTENT), UnreadableError, "there is not enough memory to read it")


def test_ten_bytes_take_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(b"\x80\x04}]r\xff\xff\xff\x0f.")
    tracemalloc.start()
    try:
        _refused(path, UnreadableError, "memo index 268,435,455")
        assert tracemalloc.get_traced_memory()[1] < 10 * MIB
    finally:
        tracemalloc.stop()


def read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.pickle"
        path.write_bytes(data)
        try:
            trace = load_snapshot(path)
        except TraceError as error:
            assert "\n" not in str(error) and str(path) in str(error) and len(str(error)) < 600
        else:
            assert trace.source.kind == "snapshot"


EDITS = st.tuples(st.integers(0, 10**6), st.integers(0, 8), st.binary(max_size=9) | st.sampled_from([b"", b"\xff" * 8]))


@pytest.mark.timeout(300)
@settings(max_examples=300)
@given(protocol=st.integers(2, 5), edits=st.lists(EDITS, min_size=1, max_size=5))
def test_a_damaged_snapshot_is_read_or_refused_in_one_line(protocol: int, edits: list[tuple[int, int, bytes]]) -> None:
    data = pickle.dumps(CONTENT, protocol)
    for at, cut, put in edits:
        at %= len(data)
        data = data[:at] + put + data[at + cut :]
    read_or_refused(data)


NUMBERS = (-1, 0, 2**31, 2**63, 2**64 - 1, 2**71 - 1, -(2**70), 1.5, float("nan"), float("inf"))
CONTAINERS: tuple[Any, ...] = ([], {}, (), [None], [[]], {"a": 1}, twice("x"))
ODD = st.sampled_from((*NUMBERS, *CONTAINERS, None, True, "", "7", "x" * 999, "a\nb", b"x"))


@given(st.data())
def test_an_odd_value_anywhere_is_read_or_refused_in_one_line(data: st.DataObject) -> None:
    """One place of a snapshot, chosen on the way down from its top, holds something else."""
    content = copy.deepcopy(CONTENT)
    at: Any = content
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not at[key] or not isinstance(at[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
            break
        at = at[key]
    at[key] = data.draw(ODD)
    read_or_refused(pickle.dumps(content))


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


def test_a_long_name_of_a_class_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.pickle"
    path.write_bytes(b"\x80\x04c" + b"m" * 60 + b"\n" + b"n" * 60 + b"\n.")
    with pytest.raises(ForeignFileError, match=f"load {'m' * 60}.{'n' * 39}, which could run any code"):
        load_trace(path)
