"""Operators taken straight from the bytes are those that the JSON parser finds, in the same order."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpuprof.errors import UnreadableError
from gpuprof.ingest import document
from gpuprof.ingest.kineto import KinetoFile, read_kineto
from gpuprof.ingest.plain_operators import split

COUNT = 600  # more than the least size of a text that is looked at
OTHER = (
    '  {\n    "ph": "X",\n    "cat": "user_annotation",\n    "name": "step",\n    "pid": 7,\n    "tid": 7,\n'
    '    "ts": 5.000,\n    "dur": 9.000\n  },\n'
)


def operator(
    number: int,
    name: str = "aten::add",
    *,
    ts: str | None = None,
    dur: str = "1.250",
    sequence: int | None = None,
    more: str = "",
) -> str:
    """One event as torch 2.13 writes it."""
    thread = 7 + (number % 5 == 0)
    begin = ts or f"{4478528762720 + number % 10**6}.{number % 1000:03}"
    back = "" if sequence is None else f', "Sequence number": {sequence}, "Fwd thread id": 1'
    return (
        f'  {{\n    "ph": "X",\n    "cat": "cpu_op",\n    "name": "{name}",\n    "pid": 7,\n    "tid": {thread},\n'
        f'    "ts": {begin},\n    "dur": {dur}\n    ,\n    "args": {{\n'
        f'      "External id": {number + 1},"Record function id": 0{back}{more}, "Ev Idx": {number}\n    }}\n  }},\n'
    )


def usual() -> list[str]:
    """Many operators, some of them with a sequence number, and a range among them."""
    events = [
        operator(n, f"aten::{n % 13}", sequence=n if n % 3 else None, dur=f"{n}.{n % 1000:03}") for n in range(COUNT)
    ]
    return [*events[:300], OTHER, *events[300:]]


def file_of(events: list[str], folder: Path) -> Path:
    path = folder / "trace.json"
    listed = "".join(events).rstrip(",\n")
    path.write_text(f'{{"schemaVersion": 1, "traceEvents": [\n{listed}\n], "traceName": "x"}}')
    return path


def read(path: Path) -> KinetoFile | str:
    try:
        return read_kineto(path)
    except UnreadableError as error:
        return str(error)


def parsed(path: Path, monkeypatch: pytest.MonkeyPatch) -> KinetoFile | str:
    with monkeypatch.context() as patched:
        patched.setattr(document, "split", lambda text: (text, None))
        return read(path)


def same(one: KinetoFile | str, other: KinetoFile | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert (one.names, one.source) == (other.names, other.source)
    for name, table in one.tables.items():
        for column in table.schema.columns:
            assert table[column.name].dtype == other.tables[name][column.name].dtype
            assert np.array_equal(table[column.name], other.tables[name][column.name]), (name, column.name)


def test_what_is_taken_and_what_is_left():
    left, found = split(("[\n" + "".join(usual()) + operator(COUNT)).rstrip(",\n").encode() + b"]")

    assert found is not None
    assert len(found.names) == COUNT
    assert [event["cat"] for event in json.loads(left)] == ["user_annotation", "cpu_op"]
    assert found.start_ns[1] == 4478528762721_001
    assert found.duration_ns[2] == 2_002
    assert found.sequence[:3].tolist() == [-1, 1, 2]


def test_a_short_text_is_left_to_the_parser():
    text = ("[" + operator(1)).rstrip(",\n").encode() + b"]"

    assert split(text) == (text, None)


ODD = {
    "a name with a quote": operator(9, 'say "x"'),
    "a name with an escape": operator(9, "a\\\\b"),
    "a name with a letter of two bytes": operator(9, "größe"),
    "an empty name": operator(9, ""),
    "shapes": operator(9, more=', "Input Dims": [[2, 3]]'),
    "whole µs": operator(9, ts="4478528762720", dur="3"),
    "four decimals": operator(9, dur="3.1415"),
    "no digits": operator(9, dur=".125"),
    "a negative duration": operator(9, dur="-1.000"),
    "an endless duration": operator(9, dur="9999999999999.000"),
    "nineteen digits": operator(1234567890123456789),
    "seventeen digits": operator(12345678901234567),
    "sixteen digits": operator(1234567890123456),
    "fifteen digits": operator(123456789012345),
    "eight digits": operator(12345678),
    "an absolute time": operator(9, ts="1790857026000000.125"),
    "another operator behind a range": OTHER + operator(9) + OTHER + operator(10, more=', "x": 1'),
    "an operator inside a text": operator(9).replace("aten::add", '\\"cat\\": \\"cpu_op\\"'),
}


@pytest.mark.parametrize("where", [0, 200, COUNT + 1])
@pytest.mark.parametrize("odd", ODD)
def test_odd_events_among_the_usual_ones(odd, where, tmp_path, monkeypatch):
    events = usual()
    path = file_of([*events[:where], ODD[odd], *events[where:]], tmp_path)

    same(read(path), parsed(path, monkeypatch))


@pytest.mark.parametrize("chunk_bytes", [70_000, 100_000])
def test_pieces_of_any_size(chunk_bytes, tmp_path, monkeypatch):
    path = file_of(usual() * 3, tmp_path)

    same(read_kineto(path, chunk_bytes=chunk_bytes), parsed(path, monkeypatch))


def test_a_file_cut_in_an_operator(tmp_path, monkeypatch):
    path = file_of(usual(), tmp_path)
    path.write_bytes(path.read_bytes()[:-150])

    same(read(path), parsed(path, monkeypatch))


def test_an_event_without_time_is_found_behind_operators(tmp_path, monkeypatch):
    path = file_of([*usual(), OTHER.replace("5.000", '"never"'), *usual()], tmp_path)

    found = read(path)

    assert isinstance(found, str)
    assert found == parsed(path, monkeypatch)


@pytest.mark.parametrize(
    ("end", "broken"),
    [
        ("]}", False),
        ("] \n }", False),
        (']\n,\n "traceName": "x", "of": [1, [2]]}', False),
        ("]]}", True),
        ("],]}", True),
        ("] ] }", True),
        (']}, "of": [1]}', True),
    ],
)
def test_what_follows_the_list_does_not_move_its_end(end, broken, tmp_path, monkeypatch):
    path = file_of(usual(), tmp_path)
    path.write_text(path.read_text().replace('], "traceName": "x"}', end))

    found = read(path)

    same(found, parsed(path, monkeypatch))
    assert isinstance(found, KinetoFile)
    # the events are whole: only the end of the file is left out, and that is said
    assert len(found.tables["operators"]) == COUNT
    assert not found.source.repaired
    assert any("behind the events" in note for note in found.source.notes) is broken
