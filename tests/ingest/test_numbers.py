from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
)


@given(ns=st.lists(st.integers(0, int(EXACT_US) * 1000 - 1), min_size=1))
def test_decimal_us_below_the_limit_keep_every_ns(ns: list[int]) -> None:
    values = [float(f"{value // 1000}.{value % 1000:03d}") for value in ns]
    assert starts_ns(values).tolist() == ns


@given(us=st.lists(st.integers(-(10**15), 9 * 10**15)))
def test_whole_us_are_exact(us: list[int]) -> None:
    assert starts_ns(us).tolist() == [value * 1000 for value in us]


def test_decimal_epoch_times_are_refused_by_float() -> None:
    with pytest.raises(InexactTimeError):
        starts_ns([1_700_000_000_000_000.25])


@pytest.mark.parametrize(("values", "row"), [([1, None], 1), ([1, 2, "3"], 2), ([1.5, float("nan")], 1), ([True], 0)])
def test_the_first_bad_time_is_named(values: list[object], row: int) -> None:
    with pytest.raises((BadTimeError, InexactTimeError)) as caught:
        starts_ns(values)
    if isinstance(caught.value, BadTimeError):
        assert caught.value.row == row


@given(st.decimals(-(10**16), 10**16, places=5, allow_nan=False))
def test_text_is_read_without_float(us: Decimal) -> None:
    expected = (us * 1000).copy_abs().quantize(Decimal(1), ROUND_HALF_UP)
    assert text_ns(f"{us:f}".encode()) == int(expected.copy_sign(us))


@pytest.mark.parametrize("text", [b'"5"', b"null", b"", b"1e5", b"1.x"])
def test_other_text_is_no_time(text: bytes) -> None:
    assert text_ns(text) is None


def test_durations_are_never_negative_and_odd_ones_are_counted() -> None:
    assert durations_ns([1, 0, -3])[0].tolist() == [1000, 0, 0]
    found, odd = durations_ns([0.003, "7.5", None, float("nan"), -1.0, "x"])
    assert found.tolist() == [3, 7500, 0, 0, 0, 0]
    assert odd == 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([1, 2], [1, 2]),
        (["5", "0x10", "x", None, 2.9, [1], True], [5, 16, -1, -1, 2, -1, -1]),
        ([2**64 - 1, -1], [2**63 - 1, -1]),
        ([2**63 + 5], [5]),
        ([[1, 2], [3, 4]], [-1, -1]),
        ([float("inf"), 10**400], [-1, (10**400) & (2**63 - 1)]),
    ],
)
def test_integers(values: list[object], expected: list[int]) -> None:
    assert integers(values).tolist() == expected


def test_floats_take_absent_as_unknown() -> None:
    np.testing.assert_array_equal(floats([25, "50", -1, None, "nan"]), np.array([25, 50, np.nan, np.nan, np.nan]))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[2, 3, 4], [1, 1, 1]], [24, 1]),
        ([[2, 3, 4], [-1, 1, 1]], [24, -1]),
        ([None, "x", ["2", 3, 1], []], [-1, -1, 6, -1]),
        ([[2**31, 2**31, 2**31]], [-1]),
        ([[-2, -3, 1]], [-1]),
    ],
)
def test_products(values: list[object], expected: list[int]) -> None:
    assert products(values).tolist() == expected
