from __future__ import annotations

import numpy as np
import pytest

from gpuprof.model.schema import DEVICE_EVENTS, HOST_READINGS, STEPS, TABLES
from gpuprof.model.table import Table


def test_columns_left_out_are_unknown() -> None:
    table = Table(HOST_READINGS, {"time_ns": [1, 2]})
    assert table["resident_bytes"].tolist() == [-1, -1]
    assert np.isnan(table["cpu_percent"]).all()
    assert table["time_ns"].dtype == np.int64
    assert table["cpu_percent"].dtype == np.float32


def test_a_table_never_changes() -> None:
    given = np.array([1, 2, 3])
    table = Table(STEPS, {"start_ns": given})
    with pytest.raises(ValueError, match="read-only"):
        table["start_ns"][0] = 5
    given[0] = 9  # the caller's own array stays the caller's
    assert given.flags.writeable


@pytest.mark.parametrize("schema", TABLES.values(), ids=TABLES)
def test_every_schema_makes_an_empty_table(schema: object) -> None:
    table = Table(schema)  # type: ignore[arg-type]
    assert len(table) == 0
    assert not table
    assert all(len(table[column.name]) == 0 for column in table.schema.columns)


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(KeyError, match="no column colour"):
        Table(STEPS, {"colour": [1]})
    with pytest.raises(ValueError, match="different lengths"):
        Table(STEPS, {"start_ns": [1], "number": [1, 2]})
    with pytest.raises(KeyError, match="no column colour"):
        STEPS.column("colour")


def test_take_and_replace() -> None:
    table = Table(STEPS, {"start_ns": [1, 2, 3], "duration_ns": [4, 5, 6], "number": [0, 1, 2]})
    assert table.take(np.array([2, 0]))["start_ns"].tolist() == [3, 1]
    assert table.take(table["number"] > 0)["number"].tolist() == [1, 2]
    changed = table.replace(number=[7, 8, 9])
    assert changed["number"].tolist() == [7, 8, 9]
    assert changed["start_ns"] is not table["number"]
    assert table["number"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="different lengths"):
        table.replace(number=[1])


def test_to_dict_and_pandas() -> None:
    table = Table(HOST_READINGS, {"time_ns": [1], "cpu_percent": [50]})
    assert table.to_dict()["cpu_percent"] == [50.0]
    frame = table.to_pandas()
    frame.loc[0, "time_ns"] = 5
    assert table["time_ns"].tolist() == [1]
    assert list(frame.columns) == [column.name for column in HOST_READINGS.columns]


def test_every_column_states_unit_and_meaning() -> None:
    for schema in TABLES.values():
        for column in schema.columns:
            assert column.meaning
            assert column.unit or column.dtype == "bool"
    assert DEVICE_EVENTS.column("bytes").missing == -1
