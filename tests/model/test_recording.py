from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuprof.errors import RecordingError
from gpuprof.model.context import Cell, CellOutcome, Environment, Loader, RunContext, Window
from gpuprof.model.device import Device
from gpuprof.model.recording import (
    is_recording,
    read_context,
    read_large_table,
    read_table,
    write_context,
    write_large_table,
    write_table,
)
from gpuprof.model.schema import DEVICE_READINGS, HOST_READINGS, LINE_EVENTS
from gpuprof.model.table import Table

CONTEXT = RunContext(
    run_id="2026-11-20-1",
    created_ns=1_790_857_026_000_000_001,
    cell=Cell(source="for x in loader:\n    print('é')", execution_count=3),
    options={"steps": 5, "stacks": False},
    environment=Environment(torch="2.13.0", devices=(Device(id=0, name="A", compute_capability=(9, 0)),)),
    loaders=(Loader(workers=0, wait_ns=(1, 2), wait_start_ns=(10**18, 10**18 + 1)),),
    window=Window(ended_by="steps", started_late=True),
    outcome=CellOutcome(error="ValueError", message="no"),
    notes=("a", "b"),
)


def test_a_context_comes_back_whole(tmp_path: Path) -> None:
    assert not is_recording(tmp_path)
    write_context(tmp_path, CONTEXT)
    assert is_recording(tmp_path)
    assert read_context(tmp_path) == CONTEXT


def test_a_table_comes_back_whole(tmp_path: Path) -> None:
    table = Table(
        DEVICE_READINGS,
        {"time_ns": [10**18 + 1, 10**18 + 3], "temperature_c": [np.nan, 61.5], "clock_reasons": [2**62 + 1, -1]},
    )
    write_table(tmp_path, table)
    back = read_table(tmp_path, DEVICE_READINGS)
    for column in DEVICE_READINGS.columns:
        np.testing.assert_array_equal(back[column.name], table[column.name])


def test_an_absent_table_is_empty(tmp_path: Path) -> None:
    assert len(read_table(tmp_path, HOST_READINGS)) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "gpuprof recording"),
        (b"[1]", "gpuprof recording"),
        (b'{"format": 99, "context": {}}', "format 99; this gpuprof reads format 1"),
        (b'{"context": {}}', "format None"),
        (b'{"format": 1, "context": {"loaders": 7}}', "gpuprof recording"),
        (b'{"format": 1, "context": {"run_id": "\xff"}}', "gpuprof recording"),
        pytest.param(b'{"format": 1, "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "recursion", id="nested"),
    ],
)
def test_a_context_that_is_none_says_so(text: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_bytes(text)
    with pytest.raises(RecordingError) as caught:
        read_context(tmp_path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_no_context_at_all(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be read"):
        read_context(tmp_path)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"time_ns": 5}', b'{"time_ns": [1], "resident_bytes": [1, 2]}', b'{"\xff']
)
def test_a_table_that_is_none_says_so(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "host_readings.json").write_bytes(text)
    with pytest.raises(RecordingError, match="host_readings"):
        read_table(tmp_path, HOST_READINGS)


def test_a_column_of_a_later_version_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "host_readings.json").write_bytes(b'{"time_ns": [1, 2], "mood": [3, 4]}')
    assert read_table(tmp_path, HOST_READINGS)["time_ns"].tolist() == [1, 2]


def test_a_large_table_comes_back_as_it_was(tmp_path: Path) -> None:
    table = Table(LINE_EVENTS, {"time_ns": [1 << 60, 5], "line": [3, -1], "begins": [True, False]})
    write_large_table(tmp_path, table)

    read = read_large_table(tmp_path, LINE_EVENTS)

    assert read.to_dict() == table.to_dict()
    assert len(read_large_table(tmp_path / "empty", LINE_EVENTS)) == 0


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda _: b"", lambda _: b"no archive"])
def test_a_damaged_large_table_is_one_clear_line(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    write_large_table(tmp_path, Table(LINE_EVENTS, {"time_ns": [1, 2, 3]}))
    path = tmp_path / "line_events.npz"
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(RecordingError, match=r"line_events\.npz"):
        read_large_table(tmp_path, LINE_EVENTS)


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_context(tmp_path, CONTEXT)
    write_bytes = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        write_bytes(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_context(tmp_path, RunContext(run_id="other"))
    assert read_context(tmp_path) == CONTEXT
    assert [path.name for path in tmp_path.iterdir()] == ["recording.json"]


def test_the_first_names_of_the_tables_of_readings_are_read(tmp_path: Path) -> None:
    write_table(tmp_path, Table(HOST_READINGS, {"time_ns": [3]}))
    (tmp_path / "host_readings.json").rename(tmp_path / "host_readings.json")
    assert read_table(tmp_path, HOST_READINGS)["time_ns"].tolist() == [3]
