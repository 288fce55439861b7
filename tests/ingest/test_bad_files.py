"""Every file somebody published that is no Kineto trace, or no whole one: one clear line each."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest.load import load_trace, read_trace_file
from tests.ingest.kineto_text import EVENTS, compact, kernel, laid_out, operator, save

OPERATOR = operator("aten::mm", 1, 2)
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
SPEEDSCOPE = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": []}, "profiles": []}
CHAKRA = {
    "schema": "1.0.2-chakra.0.0.4",
    "pid": 1,
    "time": "2023",
    "start_ts": 1,
    "nodes": [{"id": 2, "name": "[pytorch"}],
}
OTHER = {"ph": "X", "cat": "v8", "name": "a", "ts": 1, "dur": 2}
NO_TIME = {key: value for key, value in OPERATOR.items() if key != "ts"}
BAD_TIME = "the `ts` of an event (aten::mm) is"
CUT = '{"schemaVersion": 1, "traceEvents": [\n  {"ph": "X", "cat'

FOREIGN: dict[str, tuple[str | bytes, str]] = {
    "lfs": (LFS, "Git LFS pointer"),
    "speedscope": (json.dumps(SPEEDSCOPE), "speedscope"),
    "chakra": (json.dumps(CHAKRA), "execution trace"),
    "memory timeline": (json.dumps([[1, 2, 3], [[0, 1], [2, 3]]]), "memory timeline"),
    "list of numbers": ("[1, 2]", "not one of events"),
    "number": ("17", "not JSON"),
    "html": ("<!DOCTYPE html><html>", "HTML"),
    "text": ("Self CPU time total: 3ms", "not JSON"),
    "other json": ('{"a": {"traceEvents": [1]}}', "without a list of `traceEvents`"),
    "events that are no list": ('{"traceEvents": {"a": 1}}', "without a list of `traceEvents`"),
    "zip": (b"PK\x03\x04abc", "zip"),
    "zstd": (b"\x28\xb5\x2f\xfd\x00", "zstd"),
    "junk": (bytes(range(128, 256)) * 40, "not JSON"),
    "other events": (compact([OTHER], {"a": 1}), "none of its 1 events"),
}

DEEP = "[" * 100_000 + "]" * 100_000

UNREADABLE: dict[str, tuple[str | bytes, str]] = {
    "nested before the events": (f'{{"x": {DEEP}, "traceEvents": [{json.dumps(OPERATOR)}]}}', "nested thousands"),
    "nested behind the events": (f'{{"traceEvents": [{json.dumps(OPERATOR)}], "x": {DEEP}}}', "nested thousands"),
    "nested in an event": (
        f'{{"traceEvents": [{json.dumps(OPERATOR)[:-1]}, "args": {{"x": {DEEP}}}}}]}}',
        "nested thousands",
    ),
    "empty": ("", "byte 0"),
    "cut pickle": (b"\x80\x04\x95abc", "this pickle cannot be read"),
    "blank": ("  \n ", "holds nothing"),
    "cut in the head": ('{"schemaVersion": 1, "devicePro', "ends before its first event"),
    "cut before an event": (CUT, "before its first whole event"),
    "no event at all": ('{"traceEvents": []}', "holds no event"),
    "text times": (compact([OPERATOR | {"ts": "1700000000.125"}]), f"{BAD_TIME} '1700000000.125'"),
    "no times": (compact([NO_TIME]), f"{BAD_TIME} none"),
    "times in ns, twice": (compact([OPERATOR | {"ts": 17 * 10**17 * 1000}]), "the `ts` of an event"),
    "no objects": ('{"traceEvents": [1, 2]}', "not as Kineto writes it"),
    "args that are a list": (compact([OPERATOR | {"args": [1]}]), "not as Kineto writes it"),
    "broken inside": (compact(EVENTS).replace('"ts":105', '"ts" 105'), "the JSON is broken at byte"),
}


@pytest.mark.parametrize("which", FOREIGN)
@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_foreign_files_are_named_for_what_they_are(which: str, name: str, tmp_path: Path) -> None:
    text, says = FOREIGN[which]
    if name.endswith("gz") and which in ("lfs", "zip", "zstd"):
        says = "not JSON"
    _refused(save(tmp_path, text, name), ForeignFileError, says)


@pytest.mark.parametrize("which", UNREADABLE)
def test_broken_files_say_where(which: str, tmp_path: Path) -> None:
    text, says = UNREADABLE[which]
    _refused(save(tmp_path, text), UnreadableError, says)


def test_the_byte_of_a_bad_time_is_that_of_its_event(tmp_path: Path) -> None:
    text = laid_out([*EVENTS, OPERATOR | {"ts": "x"}])
    byte = text.index("{", text.index('"thread 10 (python)"'))
    _refused(save(tmp_path, text), UnreadableError, f"byte {byte:,};")


def test_the_byte_of_broken_json_is_where_it_breaks(tmp_path: Path) -> None:
    text = compact(EVENTS).replace('"ts":105', '"ts" 105')
    _refused(save(tmp_path, text), UnreadableError, f"byte {text.index('105'):,};")


def _refused(path: Path, kind: type[TraceError], says: str) -> None:
    with pytest.raises(kind) as caught:
        load_trace(path)
    message = str(caught.value)
    assert says in message
    assert str(path) in message
    assert "; expected " in message
    assert "\n" not in message


def test_nothing_there(tmp_path: Path) -> None:
    _refused(tmp_path / "absent.json", UnreadableError, "no such file")


def test_a_folder_without_traces(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    _refused(tmp_path, UnreadableError, "the folder holds no trace")


def test_a_folder_of_foreign_files_says_what_the_first_is(tmp_path: Path) -> None:
    save(tmp_path, json.dumps(SPEEDSCOPE), "a.json")
    with pytest.raises(ForeignFileError, match="speedscope"):
        load_trace(tmp_path)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, compact(EVENTS))

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "open", refuse)
    _refused(path, UnreadableError, "cannot be opened (Permission denied)")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs an ordinary POSIX user")
def test_no_permission_on_the_folder(tmp_path: Path) -> None:
    save(tmp_path, compact(EVENTS))
    tmp_path.chmod(0)
    try:
        _refused(tmp_path / "trace.json", UnreadableError, "Permission denied")
    finally:
        tmp_path.chmod(0o700)


def test_device_work_without_a_time_is_left_out_and_said(tmp_path: Path) -> None:
    epoch = 1_700_000_000_000_000
    events = [operator("aten::mm", epoch, 10), kernel("lost", 0, 0, 1), kernel("gemm", epoch + 5, 3, 2)]
    trace = load_trace(save(tmp_path, compact(events)))
    assert trace.names_of(trace.device_events).tolist() == ["gemm"]
    assert trace.span_ns == 10_000
    assert any("1 device event had no time" in note for note in trace.source.notes)


def test_device_work_in_the_first_nanosecond_has_a_time(tmp_path: Path) -> None:
    epoch = 1_700_000_000_000_000
    events = [operator("aten::mm", epoch, 10), kernel("first", 0.001, 1, 1), kernel("lost", 0, 1, 2)]
    trace = load_trace(save(tmp_path, compact(events)))
    assert trace.names_of(trace.device_events).tolist() == ["first"]


def test_odd_numbers_do_no_harm(tmp_path: Path) -> None:
    events = [
        kernel("a", 1, -5, 2**64 - 1, stream="stream 9", device="2", grid="none", block=[0, "4", 1]),
        kernel("b", 2, 3, 7, **{"est. achieved occupancy %": "nan", "External id": 2**64 - 1}) | {"tid": "stream 12"},
        operator("aten::mm", 0, 10, tid="25738", pid="77", args={"External id": "5", "Sequence number": None}),
        operator("aten::mm", 0, "oops", tid=25738, pid=77),
        {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 3, "dur": 1},
    ]
    events[1]["args"].pop("stream")
    trace = load_trace(save(tmp_path, compact(events)))
    assert trace.device_events["stream"].tolist() == [9, 12]
    assert trace.device_events["device"].tolist() == [2, 0]
    assert trace.device_events["blocks"].tolist() == [-1, 8]
    assert trace.device_events["block_threads"].tolist() == [0, 128]
    assert trace.device_events["duration_ns"].tolist() == [0, 3000]
    assert len(trace.threads) == 1
    assert trace.operators["external_id"].tolist() == [5, -1]
    assert any("2 events had a negative duration" in note for note in trace.source.notes)


@pytest.mark.parametrize(
    "text", [compact([OPERATOR | {"ts": "x"}, *EVENTS * 200]), "no JSON " * 20_000], ids=["event", "head"]
)
def test_a_refused_file_is_let_go(tmp_path: Path, text: str) -> None:
    path = save(tmp_path, text)
    before = threading.active_count()
    with pytest.raises(TraceError) as caught:
        read_trace_file(path, chunk_bytes=4096)
    assert caught.value.__traceback__ is not None
    assert threading.active_count() == before
