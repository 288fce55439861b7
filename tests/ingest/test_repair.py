from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.errors import UnreadableError
from gpuprof.ingest.load import load_trace, read_trace_file
from gpuprof.ingest.repair import mend, mend_string
from tests.ingest.kineto_text import EVENTS, laid_out, operator, save

OLD = '  {{\n    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 2,\n    "ts": {ts}, "dur": 5\n  }}'
NEW = (
    '  {{\n    "ph": "X",\n    "cat": "cpu_op",\n    "name": "{name}",\n    "pid": 1,\n    "tid": 2,\n'
    '    "ts": {ts},\n    "dur": 5\n    ,\n    "args": {{\n      "External id": 4\n    }}\n  }}'
)
ODD_NAMES = [
    'a "quoted" name',
    '"',
    'ends with "',
    '{"device":"cpu"}.py(12): forward',
    'x", y',
    "C:\\Users\\new\\train.py(3): f",
    'C:\\Users\\me "q".py',
]


@pytest.mark.parametrize("layout", [OLD, NEW], ids=["old", "torch 2.13"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_raw_name_comes_back_as_it_was(layout: str, name: str, tmp_path: Path) -> None:
    written = [layout.format(name=text, ts=ts) for ts, text in enumerate(["before", name, "after"])]
    text = '{\n  "traceEvents": [\n' + ",\n".join(written) + '\n  ],\n  "traceName": "x"\n}\n'
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    trace = load_trace(save(tmp_path, text))
    assert trace.names_of(trace.operators).tolist() == ["before", name, "after"]
    assert trace.source.repaired
    assert not trace.source.truncated
    assert any("not valid JSON" in note for note in trace.source.notes)


@given(name=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12))
@settings(max_examples=150, deadline=None)
def test_a_mended_string_is_a_json_string(name: str) -> None:
    mended = mend_string(name.encode()).decode()
    assert json.loads(f'"{mended}"') is not None
    if "\\" not in name:
        assert json.loads(f'"{mended}"') == name


def test_mending_leaves_valid_json_as_it_is() -> None:
    text = laid_out([*EVENTS, operator('tab\there, "quote", \\ and C:\\new', 1, 2)])
    assert json.loads(mend(text.encode())) == json.loads(text)


def test_text_in_args_is_mended(tmp_path: Path) -> None:
    text = laid_out([operator("aten::mm", 1, 2, args={"Call stack": "STACK", "External id": 7}), *EVENTS])
    text = text.replace("STACK", '{"device":"cpu"}.py(3): f;C:\\Users\\g.py(4): g')
    trace = load_trace(save(tmp_path, text))
    assert trace.source.repaired
    assert 7 in trace.operators["external_id"]


def test_bare_nan_broken_text_and_control_characters(tmp_path: Path) -> None:
    text = laid_out([operator("aten::mm", 1, 2, args={"x": 0.5, "External id": 7}), operator("naïve", 3, 1)])
    data = text.replace("0.5", "NaN").encode().replace("ï".encode(), b"\xef\x01")
    trace = load_trace(save(tmp_path, data))
    assert trace.operators["external_id"].tolist() == [7, -1]
    assert trace.source.repaired


def test_half_a_surrogate_is_no_end_of_the_file(tmp_path: Path) -> None:
    text = laid_out([operator("HALF", 1, 2), operator("fine \U0001f600", 3, 2), operator("last \\ud800", 6, 1)])
    trace = load_trace(save(tmp_path, text.replace("HALF", "half \\ud83d")))
    assert trace.names_of(trace.operators).tolist() == ["half \ufffd", "fine \U0001f600", "last \\ud800"]
    assert (trace.source.repaired, trace.source.truncated) == (True, False)


def test_a_broken_head_loses_only_the_head(tmp_path: Path) -> None:
    text = laid_out(EVENTS, {"config": "PATH", "baseTimeNanoseconds": 10**18, "schemaVersion": 1})
    trace = load_trace(save(tmp_path, text.replace("PATH", 'a "b" c')))
    assert len(trace.operators) == 2
    assert trace.span_start_ns == 10**18 + 105_000
    assert any("head of the file" in note for note in trace.source.notes)
    windows = load_trace(save(tmp_path, text.replace("PATH", "C:\\Users\\me"), "windows.json"))
    assert windows.source.repaired
    assert windows.source.notes == trace.source.notes[1:]


def test_a_broken_foot_loses_only_the_foot(tmp_path: Path) -> None:
    text = laid_out(EVENTS, foot={"baseTimeNanoseconds": 10**18, "traceName": "PATH"})
    trace = load_trace(save(tmp_path, text.replace("PATH", 'a "b" c')))
    assert trace.span_start_ns == 10**18 + 105_000
    assert not trace.source.truncated
    windows = load_trace(save(tmp_path, text.replace("PATH", "C:\\Users\\me"), "windows.json"))
    assert windows.source.repaired
    assert windows.span_start_ns == trace.span_start_ns


def test_any_chunk_size_mends_the_same(tmp_path: Path) -> None:
    written = [OLD.format(name=f'op "{i}"', ts=i) for i in range(30)]
    path = save(tmp_path, '{"traceEvents": [\n' + ",\n".join(written) + "\n  ]}")
    expected = [f'op "{i}"' for i in range(30)]
    for chunk_bytes in (7, 100, 333, 5000):
        trace = read_trace_file(path, chunk_bytes=chunk_bytes)
        assert trace.names_of(trace.operators).tolist() == expected


def test_broken_and_cut_in_one_event_is_cut_before_it(tmp_path: Path) -> None:
    written = ",\n".join(OLD.format(name=f"op{i}", ts=i) for i in range(5))
    path = save(tmp_path, '{"traceEvents": [\n' + written + ',\n  {\n    "ph": "X", "name": "a "b')
    trace = load_trace(path)
    assert len(trace.operators) == 5
    assert trace.source.truncated


def test_what_cannot_be_mended_safely_is_refused(tmp_path: Path) -> None:
    text = laid_out(EVENTS).replace('"ts": 110, "dur": 30', '"ts": 110 "dur": 30')
    with pytest.raises(UnreadableError, match="the JSON is broken at byte"):
        load_trace(save(tmp_path, text))
