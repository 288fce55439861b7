from __future__ import annotations

import functools
import gzip
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.errors import TraceError
from gpuprof.ingest.head import torch_of
from gpuprof.ingest.load import load_trace, read_trace_file
from gpuprof.model.trace import Trace
from tests.ingest import kineto_text
from tests.ingest.kineto_text import EVENTS, compact, laid_out, operator, save
from tests.ingest.same import assert_same

FOOT = {"traceName": "x", "deviceProperties": [{"id": 0, "name": "A"}, {"id": 1, "name": "B"}]}
TEXTS = {
    "laid out": laid_out(EVENTS),
    "one line": compact(EVENTS),
    "with a foot": compact(EVENTS, {"metadata": {"traceEvents": [], "a": [{"b": 1}, {"c": 2}]}}, FOOT),
    "a bare list": compact(EVENTS).partition(":[")[2].join(["[", ""]).removesuffix("}"),
    "one event": laid_out(EVENTS[1:2]),
}


@functools.cache
def _whole(which: str) -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        return load_trace(save(Path(folder), TEXTS[which]))


@pytest.mark.parametrize("which", TEXTS)
@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_every_layout_reads_the_same(which: str, name: str, tmp_path: Path) -> None:
    trace = load_trace(save(tmp_path, TEXTS[which], name))
    assert_same(trace, _whole(which))
    assert not trace.source.truncated
    assert not trace.source.repaired
    if which != "one event":
        assert_same(trace, _same_head(_whole("laid out"), trace))


def _same_head(trace: Trace, like: Trace) -> Trace:
    return Trace(**{**trace.__dict__, "devices": like.devices})


@pytest.mark.parametrize("which", TEXTS)
@given(chunk_bytes=st.integers(1, 3000))
@settings(max_examples=25, deadline=None)
def test_any_chunk_size_gives_the_same_trace(which: str, chunk_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("trace.json", "trace.json.gz"):
            path = save(Path(folder), TEXTS[which], name)
            assert_same(read_trace_file(path, chunk_bytes=chunk_bytes), _whole(which))


@pytest.mark.parametrize("which", TEXTS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_file_cut_anywhere_is_read_or_refused(which: str, data: st.DataObject) -> None:
    text = TEXTS[which].encode()
    end = data.draw(st.integers(0, len(text.rstrip()) - 1))
    packed = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder), text[:end], "trace.json.gz" if packed else "trace.json")
        try:
            trace = load_trace(path)
        except TraceError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
        else:
            assert trace.source.truncated
            assert trace.source.notes
            assert _starts(trace) <= _starts(_whole(which))


@pytest.mark.parametrize("which", TEXTS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_byte_is_read_or_refused(which: str, data: st.DataObject) -> None:
    damaged = bytearray(TEXTS[which].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder), bytes(damaged))
        try:
            load_trace(path)
        except TraceError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)


def _starts(trace: Trace) -> set[tuple[str, int]]:
    return {
        (name, int(start))
        for name in ("operators", "calls", "device_events")
        for start in trace.tables[name]["start_ns"]
    }


@given(end=st.integers(0, 100_000))
@settings(max_examples=60, deadline=None)
def test_a_cut_gzip_file_is_read_as_far_as_it_goes(end: int) -> None:
    packed = gzip.compress(laid_out(EVENTS * 40).encode(), 1)
    end %= len(packed)
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder), packed[:end], "cut.json")
        try:
            trace = load_trace(path)
        except TraceError as error:
            assert str(path) in str(error)
        else:
            # Only the last bytes, a checksum, may be missing from whole JSON.
            assert trace.source.truncated or len(packed) - end <= 16
            assert any("gzip data ends early" in note for note in trace.source.notes)


def test_every_whole_event_before_the_cut_is_kept(tmp_path: Path) -> None:
    text = laid_out([operator(f"op{i}", 10 * i, 5) for i in range(100)])
    cut = text.index('"op73"') + 3
    trace = load_trace(save(tmp_path, text[:cut]))
    assert len(trace.operators) == 73
    assert any(f"byte {cut:,}" in note for note in trace.source.notes)


def test_damage_inside_the_gzip_data(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(laid_out(EVENTS * 400).encode(), 6))
    packed[len(packed) // 2] ^= 0xFF
    path = save(tmp_path, bytes(packed), "broken.json")
    try:
        trace = load_trace(path)
    except TraceError as error:
        assert str(path) in str(error)
    else:
        assert trace.source.notes


def test_the_base_is_added_in_integers_wherever_it_stands(tmp_path: Path) -> None:
    base = 1_751_410_836_000_000_000
    events = [operator("aten::mm", 1419116105356.597, 0.003)]
    for text in (
        laid_out(events, {"baseTimeNanoseconds": base}),
        laid_out(events, foot={"displayTimeUnit": "ms", "baseTimeNanoseconds": base}),
    ):
        trace = load_trace(save(tmp_path, text))
        assert trace.operators["start_ns"].tolist() == [base + 1_419_116_105_356_597]
        assert trace.operators["duration_ns"].tolist() == [3]


def test_absolute_times_stay_what_they_are_beside_a_base(tmp_path: Path) -> None:
    events = [operator("aten::mm", 1_661_542_345_075_775, 3)]
    trace = load_trace(save(tmp_path, laid_out(events, {"baseTimeNanoseconds": 1_751_410_836_000_000_000})))
    assert trace.operators["start_ns"].tolist() == [1_661_542_345_075_775_000]


@given(ns=st.integers(1_600_000_000_000_000_000, 1_900_000_000_000_000_000))
@settings(max_examples=40, deadline=None)
def test_decimal_epoch_times_keep_every_nanosecond(ns: int) -> None:
    event: Any = operator("aten::mm", 0, 1)
    text = laid_out([event, event]).replace('"ts": 0', f'"ts": {ns // 1000}.{ns % 1000:03d}')
    with tempfile.TemporaryDirectory() as folder:
        trace = load_trace(save(Path(folder), text))
    assert trace.operators["start_ns"].tolist() == [ns, ns]


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    text = laid_out(EVENTS).encode()
    packed = gzip.compress(text[:700]) + gzip.compress(text[700:]) + b"\0" * 512
    assert_same(load_trace(save(tmp_path, packed, "members.json")), _whole("laid out"))


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert_same(load_trace(save(tmp_path, b"\xef\xbb\xbf" + laid_out(EVENTS).encode())), _whole("laid out"))


def test_the_list_ends_long_before_the_file(tmp_path: Path) -> None:
    foot = {"INFO": [{"n": i} for i in range(2000)], "distributedInfo": {"rank": 5}}
    trace = read_trace_file(save(tmp_path, compact(EVENTS, foot=foot)), chunk_bytes=2048)
    assert trace.source.rank == 5
    assert_same(trace, _rank5())


def _rank5() -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        return load_trace(save(Path(folder), kineto_text.laid_out(EVENTS, {"distributedInfo": {"rank": 5}})))


def nested(depth: int) -> Any:
    """The line of a `pip freeze` under so many lists."""
    value: Any = "torch==2.5.1"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("depth", "version"), [(0, "2.5.1"), (4, "2.5.1"), (5, None), (9, None)])
def test_the_version_of_torch_is_looked_for_four_levels_deep(depth: int, version: str | None) -> None:
    assert torch_of({"metadata": nested(depth)}) == version


def test_a_field_of_its_own_comes_first() -> None:
    assert torch_of({"metadata": nested(1), "pytorch_version": "2.9.0"}) == "2.9.0"
    assert torch_of({}) is None
