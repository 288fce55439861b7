"""Which parts of the ranks' sequences correspond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.ranks.alignment import DIFFERENT, PERIODIC, TOO_LONG, align

STEP = ["gather", "gather", "reduce", "all-to-all", "barrier"]


def places(*sequences: str) -> list[list[int]] | str:
    found = align([list(each) for each in sequences])
    return found if isinstance(found, str) else [each.tolist() for each in found]


def test_equal_sequences_correspond_as_they_are() -> None:
    assert places("aaa", "aaa") == [[0, 1, 2]] * 2


def test_recordings_that_begin_later_or_end_earlier() -> None:
    assert places("abcdefgh", "cdefgh", "bcdefg") == [[2, 3, 4, 5, 6], [0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]


def test_of_sequences_that_differ_in_the_middle_the_longest_stretch() -> None:
    assert places("abcdefg", "axcdefg") == [[2, 3, 4, 5, 6]] * 2


@pytest.mark.parametrize(
    ("sequences", "reason"),
    [
        (("aaaa", "aaa"), PERIODIC),
        (("abcabcabc", "abcabc"), PERIODIC),
        (("abcdef", "ghijkl"), DIFFERENT),
        (("abcdef", "abcdef", "efghij"), DIFFERENT),
        (("", ""), DIFFERENT),
        (("ab", ""), DIFFERENT),
    ],
    ids=["all alike", "a period", "nothing in common", "one rank", "empty", "one empty"],
)
def test_no_guess(sequences: tuple[str, ...], reason: str) -> None:
    assert places(*sequences) == reason


def test_long_sequences_are_compared_only_where_they_are_equal() -> None:
    assert align([list(range(9000)), list(range(1, 9000))]) == TOO_LONG
    assert not isinstance(align([["x"] * 9000] * 2), str)


def test_what_two_ranks_share_with_the_shortest_has_to_overlap() -> None:
    # each shares more than half of the first, but both together only two of eight
    assert align([list("abcdefgh"), list("abcde1234"), list("1234defgh")]) == DIFFERENT
    assert places("ab", "xay", "abz") == [[0], [1], [0]]
    assert places("ab", "bcd") == [[1], [0]]


@given(
    st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=60, unique_by=lambda each: each),
    st.data(),
)
def test_windows_of_one_sequence(whole: list[str], data: st.DataObject) -> None:
    """GIVEN windows, each most of a sequence that does not repeat itself THEN their common part corresponds."""
    sequences = []
    for _ in range(3):
        begin = data.draw(st.integers(0, len(whole) // 6))
        end = data.draw(st.integers(len(whole) - len(whole) // 6, len(whole)))
        sequences.append(whole[begin:end])
    found = align(sequences)
    assert not isinstance(found, str)
    keys = [[sequence[at] for at in row] for sequence, row in zip(sequences, found, strict=True)]
    assert keys[0] == keys[1] == keys[2] == [key for key in whole if all(key in each for each in sequences)]
