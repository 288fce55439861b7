"""Loops in a sequence of operators, each operator a letter."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.turns.turns import TurnLoop, loops


def loops_in(text: str, least: int = 4, alike: float = 0.8) -> list[TurnLoop]:
    keys = np.array([ord(letter) for letter in text], np.int64)
    return list(loops(keys, np.ones(len(keys), bool), least, alike))


def turns_of(loop: TurnLoop, text: str) -> list[list[str]]:
    return [[text[start:end] for start, end in zip(run.starts, run.ends, strict=True)] for run in loop.runs]


def test_a_loop_between_other_operators() -> None:
    text = "xyz" + "abc" * 5 + "uvw"
    (loop,) = loops_in(text)
    assert turns_of(loop, text) == [["abc"] * 5]
    assert loop.turn.tolist() == [-1] * 3 + [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3 + [-1] * 3
    assert loop.run.tolist() == [-1] * 3 + [0] * 15 + [-1] * 3
    assert loop.around[-1] == 4


def test_each_run_of_an_inner_loop_is_one() -> None:
    text = ("x" + "ab" * 5 + "yz") * 3
    (loop,) = loops_in(text)
    assert turns_of(loop, text) == [["ab"] * 5] * 3
    assert sorted(set(loop.turn.tolist())) == [-1, *range(15)]


def test_outer_loops_come_before_inner_ones() -> None:
    text = ("x" + "ab" * 5 + "y") * 4
    outer, inner = loops_in(text)
    assert turns_of(outer, text) == [["xabababababy"] * 4]
    assert turns_of(inner, text) == [["ab"] * 5] * 4


def test_a_turn_begins_with_its_first_operator_where_the_last_turn_is_cut_off() -> None:
    """The last letter of a turn comes least often then."""
    text = "xy" + "abc" * 5 + "ab"
    (loop,) = loops_in(text)
    assert turns_of(loop, text) == [["abc"] * 5]


def test_some_turns_may_differ() -> None:
    for odd, found in ((1, 1), (3, 0)):
        text = "abc" * 3 + "adbc" * odd + "abc" * 3 + "x"
        assert len([loop for loop in loops_in(text) if loop.runs[0].count >= 6]) == found


def test_few_turns_are_no_loop() -> None:
    assert loops_in("abc" * 3 + "x") == []
    assert len(loops_in("abc" * 4 + "x")) == 1


def test_only_some_operators_begin_a_turn() -> None:
    keys = np.array([ord(letter) for letter in "abc" * 5], np.int64)
    (loop,) = loops(keys, keys == ord("b"), 4, 0.8)
    assert loop.runs[0].count == 5
    assert list(loops(keys, np.zeros(15, bool), 4, 0.8)) == []
    assert list(loops(keys[:0], np.zeros(0, bool), 4, 0.8)) == []


@given(
    st.permutations("abcdef"), st.integers(1, 6), st.integers(4, 9), st.integers(1, 4), st.integers(0, 3), st.booleans()
)
def test_turns_of_any_length(letters: list[str], length: int, turns: int, runs: int, apart: int, cut: bool) -> None:
    """Runs with other operators between them: every turn of every run, and nothing else."""
    body, between = "".join(letters[:length]), "xyzuvw"[: 3 + apart]
    text = "".join(between + body * turns for _ in range(runs)) + ("" if cut else between)
    loop = next(each for each in loops_in(text) if set(body) & set(turns_of(each, text)[0][0]) and each.run.max() >= 0)
    if runs < 4:
        assert turns_of(loop, text) == [[body] * turns] * runs
