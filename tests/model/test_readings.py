"""The sample log as it is saved and read."""

from __future__ import annotations

import math

import pytest

from gpuprof.errors import RecordingError
from gpuprof.model.readings import DeviceFacts, DeviceReading, ReadingLog, samples_table


def test_what_was_not_read_is_missing_in_the_table_and_null_in_json() -> None:
    table = samples_table([DeviceReading(device=0, time_ns=1, monotonic_ns=2, call_ns=3, power_mw=250_000)])
    assert math.isnan(table["temperature_c"][0])
    assert table["sm_clock_mhz"][0] == -1
    saved = ReadingLog(table=table, static=(DeviceFacts(name="A"),), hz_asked=10.0).to_dict()
    assert saved["table"]["temperature_c"] == [None]
    again = ReadingLog.from_dict(saved)
    assert again.static == (DeviceFacts(name="A"),)
    assert again.table["power_mw"][0] == 250_000
    assert math.isnan(again.table["temperature_c"][0])


@pytest.mark.parametrize(
    "change",
    [{"hz_asked": "fast"}, {"table": {"nonsense": [1]}}, {"table": {"time_ns": ["x"]}}, {"table": 7}, {"static": None}],
)
def test_something_else_is_one_recording_error(change: dict[str, object]) -> None:
    saved = {**ReadingLog().to_dict(), **change}
    with pytest.raises(RecordingError, match="device readings of this recording cannot be read"):
        ReadingLog.from_dict(saved)
