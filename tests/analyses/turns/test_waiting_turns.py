"""Stretches of short turns that are nearly alike."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.turns.waiting_turns import LEAST_TURNS, turns_at


def stretches(text: str, mark: str, section: str = "") -> list[tuple[str, int]]:
    """Each stretch as the text of its first turn and its number of turns; a letter is a name."""
    tokens = np.array([ord(letter) for letter in text], np.int64)
    sections = np.array([ord(letter) for letter in section], np.int64) if section else np.zeros(len(text), np.int64)
    marks = np.flatnonzero(tokens == ord(mark))
    found = turns_at(tokens, sections, marks)
    return [(text[turns.bounds[0] : turns.bounds[1]], turns.count) for turns in found]


def test_a_stretch_is_found_whole_wherever_its_mark_stands() -> None:
    for mark in "abcd":
        assert stretches("xyz" + "abcd" * 12 + "xyz", mark) == [("abcd", 12)]


def test_names_may_come_and_go() -> None:
    turns = "".join("abcdefghi" if turn % 3 else "abcdefghij" for turn in range(15))
    assert [count for _, count in stretches("xyz" + turns + "uvw", "i")] == [15]


def test_turns_that_are_not_alike_are_none() -> None:
    assert stretches("".join("z" + chr(200 + turn) * 3 for turn in range(15)), "z") == []


@pytest.mark.parametrize(("turns", "number"), [(LEAST_TURNS - 1, 0), (LEAST_TURNS, 1)])
def test_it_takes_ten_turns(turns: int, number: int) -> None:
    assert len(stretches("xyz" + "abc" * turns + "xyz", "b")) == number


@pytest.mark.parametrize("text", ["zbabcdefgh" + "abcdefgh" * 8 + "vuttvw", "zqbqbxbz" + "abc" * 9 + "wb"])
def test_marks_beside_the_turns_do_not_make_ten_of_nine(text: str) -> None:
    assert stretches(text, "b") == []


def test_a_section_ends_a_stretch() -> None:
    assert stretches("ab" * 24, "a", "1" * 24 + "2" * 24) == [("ab", 12), ("ab", 12)]


def test_the_finest_turn_counts() -> None:
    assert stretches("x" + "abab" * 12 + "y", "a") == [("ab", 24)]


def test_each_turn_holds_a_mark() -> None:
    assert stretches("abcd" * 12, "x") == []


def test_long_pieces_are_no_turns() -> None:
    piece = "".join(chr(200 + place) for place in range(80))
    assert stretches(piece * 12, piece[0]) == []
