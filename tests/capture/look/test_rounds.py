"""Iterations that show in the operators of a look."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.look.rounds import rounds


def numbers(text: str, durations: list[int] | None = None) -> list[int]:
    """One letter for each operator."""
    keys = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    return rounds(keys, np.array(durations or [1] * len(text), np.int64)).tolist()


def test_whole_iterations_lie_between_the_operators_that_come_least_often() -> None:
    # GIVEN an inner loop of b and c within an outer one that begins with a
    assert numbers("cbcabcbcabcbcabc") == [0, 0, 0, *[1] * 5, *[2] * 5, -1, -1, -1]


def test_two_whole_ones_are_needed() -> None:
    assert numbers("abcabc") == []
    assert numbers("abcabca") == [1, 1, 1, 2, 2, 2, -1]


@pytest.mark.parametrize("text", ["", "abcdefgh", "aabbccdd", "axaxbcdefgha"])
def test_what_does_not_come_again_evenly_has_none(text: str) -> None:
    assert numbers(text) == []


def test_an_outer_loop_may_come_in_between() -> None:
    inner = "ab" * 6
    assert numbers(inner + "cdefg" + inner) == [*(each for each in range(1, 6) for _ in "ab"), *[6] * 7,
        *(each for each in range(7, 12) for _ in "ab"), -1, -1]  # fmt: skip
    # THEN of few iterations none may be longer
    assert numbers("abab" + "cdefg" + "abab") == []


def test_they_cover_half_of_the_time() -> None:
    short = [1] * 9
    assert numbers("abcabcabcd", [*short, 100]) == []
    assert len(numbers("abcabcabcd", [*short, 2])) == 10


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(3, 8),
    st.lists(st.integers(20, 29), max_size=3),
)
def test_a_body_that_is_repeated_is_found(body: list[int], times: int, head: list[int]) -> None:
    keys = np.array([*head, 0, *([*body, 0] * times)], np.int64)
    found = rounds(keys, np.ones(len(keys), np.int64))
    assert len(found) == len(keys)
    whole = found[found > 0]
    assert (np.diff(whole) >= 0).all() and int(whole.max()) >= 2
    # each whole iteration has the same operators
    parts = [sorted(keys[found == each].tolist()) for each in range(1, int(whole.max()) + 1)]
    assert all(part == parts[0] for part in parts[1:]) or len(set(map(len, parts))) <= 2
