"""Bounds of turns: the turn of number 0, the first place in a turn that is free, anchors of turns that begin later."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.turns.turn_dependence import _free_begin
from gpuprof.analyses.turns.turns import LoopRun, TurnLoop, _late, _same_turns, loop_at, loops
from tests.analyses.turns.test_waiting_turns import stretches


@pytest.mark.parametrize(("outside", "same"), [(3, True), (4, True), (5, False)])
def test_an_operator_of_each_turn_is_of_that_loop_where_most_of_it_is_in_turns(outside: int, same: bool) -> None:
    """Four turns, of which the first is number 0."""
    turn = np.array([0, 1, 2, 3] + [-1] * 5)
    assert _same_turns(turn, np.arange(4 + outside)) is same


@pytest.mark.parametrize(("twice", "same"), [(0, True), (1, True), (2, False)])
def test_an_operator_that_comes_twice_in_some_turns_is_of_an_inner_loop(twice: int, same: bool) -> None:
    """Once in nine of ten."""
    turn = np.array([*range(10), *range(twice)])
    assert _same_turns(turn, np.arange(len(turn))) is same


def loop(first: int, length: int, turns: int) -> TurnLoop:
    starts = first + length * np.arange(turns)
    run = LoopRun(starts, starts + length, np.ones(turns, bool))
    turn = np.full(first + length * turns, -1)
    for number, start in enumerate(starts.tolist()):
        turn[start : start + length] = number
    return TurnLoop((run,), turn, np.where(turn >= 0, 0, -1), turn)


@pytest.mark.parametrize("first", [0, 1, 20])
@pytest.mark.parametrize(
    ("maker", "reader", "begin"), [(2, 4, 1), (0, 1, 0), (1, 3, 0), (3, 5, 2), (0, 4, 0), (0, 3, 0)]
)
def test_turns_begin_where_no_value_goes_on(first: int, maker: int, reader: int, begin: int) -> None:
    """Turns of four operators: what the third one makes the first of the next turn reads."""
    pairs = first + np.array([[maker, reader], [maker + 4, reader + 4]])
    assert _free_begin(loop(first, 4, 5), pairs[:, 1], pairs[:, 0]) == begin


@pytest.mark.parametrize("first", [0, 1, 20])
def test_turns_that_need_the_whole_turn_before_begin_nowhere_else(first: int) -> None:
    """The fourth of a turn is read by the third of the next one, and the first by the second: not at the third."""
    loop_of_four = loop(first, 4, 5)
    makers, readers = first + np.array([3, 0, 7, 4]), first + np.array([5, 1, 9, 5])
    assert _free_begin(loop_of_four, readers, makers) == 2
    assert _free_begin(loop_of_four, readers + 2, makers) == 0


def test_turns_may_begin_later() -> None:
    keys = np.array([ord(letter) for letter in "x" + "abc" * 5 + "y"])
    (found,) = loops(keys, keys == ord("a"), 4, 0.8)
    assert [run.count for run in found.runs] == [5]
    later = found.later(keys, 1, 0.8)
    assert later is not None and later.runs[0].starts.tolist() == [2, 5, 8, 11, 14]
    assert loop_at(keys, np.array([1, 4, 7]), 4, 0.8) is None


@pytest.mark.parametrize(("before", "late"), [("", 0), ("c", 1), ("bc", 2), ("xc", 1), ("abc", 2)])
def test_the_end_of_a_turn_before_the_first_one(before: str, late: int) -> None:
    keys = np.array([ord(letter) for letter in before + "abc" * 3])
    starts = len(before) + 3 * np.arange(3)
    assert _late(keys, LoopRun(starts, starts + 3, np.ones(3, bool))) == late


def test_a_turn_begins_where_the_second_does_not_where_a_later_one_does() -> None:
    """The second turn lacks what the first and the third begin with."""
    turns = ["pqrstuvM"] * 14
    turns[1] = "qrstuvM"
    assert stretches("".join(turns) + "w", "M") == stretches("".join(turns) + "w", "M", "0" * 112)
    ((text, count),) = stretches("".join(turns) + "w", "M")
    assert (text[0], count) == ("q", 14)
