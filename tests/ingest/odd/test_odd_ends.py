"""Files that end oddly: half a character just before the end, a time just above the limit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.ingest.numbers import (
    EXACT_US,
    BadTimeError,
    InexactTimeError,
    durations_ns,
    floats,
    integers,
    products,
    starts_ns,
    text_ns,
    whole_ns,
)

MOST = np.iinfo(np.int64).max


def test_half_a_surrogate_just_before_the_end(tmp_path: Path) -> None:
    """The parser takes what follows for too short to be the other half, and calls the text truncated."""
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents":[{"ph":"X","cat":"cpu_op","ts":1,"dur":2,"pid":1,"tid":1,"name":"half \\ud83d"}]}')
    trace = load_trace(path)
    assert trace.names_of(trace.operators).tolist() == ["half \ufffd"]
    assert (trace.source.repaired, trace.source.truncated) == (True, False)


@pytest.mark.parametrize(
    ("us", "ns"),
    [
        ([0.0015], [2]),  # to the even one, as binary fractions go
        ([1.0005, 2.0], [1000, 2000]),
        ([-0.25], [-250]),
        ([EXACT_US - 0.25], [int(EXACT_US) * 1000 - 250]),
        ([MOST // 1000], [MOST // 1000 * 1000]),
    ],
)
def test_times_to_the_nanosecond(us: list[float], ns: list[int]) -> None:
    assert starts_ns(us).tolist() == ns


def test_times_beyond_what_can_be_told() -> None:
    with pytest.raises(InexactTimeError):
        starts_ns([EXACT_US])
    with pytest.raises(BadTimeError) as caught:
        starts_ns([5, MOST // 1000 + 1])
    assert (caught.value.row, caught.value.found) == (1, "a time outside any calendar")
    with pytest.raises(BadTimeError) as caught:
        starts_ns([5, True, "x"])
    assert (caught.value.row, caught.value.found) == (1, "True")
    with pytest.raises(BadTimeError) as caught:
        starts_ns([5, None])
    assert (caught.value.row, caught.value.found) == (1, "none")
    with pytest.raises(InexactTimeError):
        starts_ns([5, float("nan")])
    with pytest.raises(BadTimeError) as caught:
        whole_ns([5, MOST, MOST + 1])
    assert caught.value.row == 2
    assert whole_ns([5, -MOST]).tolist() == [5, -MOST]


def test_durations_at_their_limits() -> None:
    found, odd = durations_ns([0, -1, 5, MOST // 1000 + 7])
    assert found.tolist() == [0, 0, 5000, MOST // 1000 * 1000] and odd == 1
    found, odd = durations_ns([0.25, -0.25, EXACT_US, -EXACT_US, float("inf")])
    assert found.tolist() == [250, 0, 0, 0, 0] and odd == 4


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        (b"5", 5000),
        (b"-5", -5000),
        (b"1.0004", 1000),
        (b"1.0005", 1001),
        (b"1.00049", 1000),
        (b"-1.0005", -1001),
        (b"-.5", -500),
        (b".25", 250),
        (b"1.25", 1250),
        (b"1e3", None),
        (b"1.2e3", None),
        (b"x", None),
    ],
)
def test_text_to_the_nanosecond(text: bytes, ns: int | None) -> None:
    assert text_ns(text) == ns


def test_numbers_of_any_kind() -> None:
    assert integers([MOST, MOST + 1, MOST + 6, -MOST - 1]).tolist() == [MOST, 0, 5, -MOST - 1]
    assert integers(["0x10", "7", "7.9", "x", 2.9, float("inf"), None, True]).tolist() == [16, 7, 7, -1, 2, -1, -1, -1]
    assert integers(["x", None], -5).tolist() == [-5, -5]
    assert floats([0, 0.5, -0.5, "x"]).tolist()[:2] == [0.0, 0.5] and np.isnan(floats([-0.5, "x", None])).all()
    assert products([[2, 3, 4], [0, 1, 1], [-1, 2, 2]]).tolist() == [24, 0, -1]
    assert products([[1 << 20, 2, 2], [1 << 40, 1 << 40, 1]]).tolist() == [1 << 22, -1]
    assert products([["2", 3.0], [], None, 7, [2, "x"]]).tolist() == [6, -1, -1, -1, -1]
    assert integers([]).tolist() == [] and durations_ns([])[1] == 0
