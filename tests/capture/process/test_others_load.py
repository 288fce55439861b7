"""How much of the cores is in use."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gpuprof.capture.process.others_load import CoresInUse, ticks_told

STAT = b"""cpu  300 0 100 500 100 0 0 0 0 0
cpu0 200 0 50 150 0 0 0 0 0 0
cpu1 100 0 50 350 100 0 0 0 0 0
intr 1 2 3
"""


def test_of_all_cores_or_of_those_that_are_allowed() -> None:
    assert ticks_told(STAT, {0, 1}, 2) == (400, 1000)
    assert ticks_told(STAT, {1}, 2) == (150, 600)


@pytest.mark.parametrize("stat", [b"", b"cpu  0 0 0 0 0 0 0 0 0 0\n", b"cpu  1 2\n", b"cpu  a b c d e f g h\n"])
def test_what_does_not_say_it(stat: bytes) -> None:
    assert ticks_told(stat, {0}, 1) is None


def test_a_core_that_is_not_told() -> None:
    assert ticks_told(STAT, {7}, 64) is None


def test_between_two_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    file = tmp_path / "stat"
    file.write_bytes(STAT)
    in_use = CoresInUse(str(file))
    assert math.isnan(in_use.since_last())
    file.write_bytes(STAT.replace(b"cpu  300 0 100 500", b"cpu  360 0 100 540"))
    assert in_use.since_last() == pytest.approx(2 * 60 / 100)
    assert math.isnan(in_use.since_last())  # no tick since
    in_use.close()


def test_where_there_is_no_such_file(tmp_path: Path) -> None:
    assert math.isnan(CoresInUse(str(tmp_path / "none")).since_last())
