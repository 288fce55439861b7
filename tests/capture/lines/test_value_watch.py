"""What is seen of the variables of a running cell: which are made anew, with what content."""

import gc
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.lines.value_watch import ValueWatch
from gpuprof.model.operands import MadeValue


def watched(look: Callable[[ValueWatch], Any]) -> dict[str, MadeValue]:
    watch = ValueWatch(WatchedCell())
    watch.begin()
    try:
        look(watch)
    finally:
        watch.end()
    return {each.name: each for each in watch.facts()}


def use(*values: Any) -> None:
    """In place of `assert`, which pytest makes ask for `locals()`: such functions are left alone."""


def asked(watch: ValueWatch) -> None:
    """One look; what it took does not count."""
    watch._budget.spend(-watch._budget.spent_ns)
    watch.tick()
    # the call waits for the next bytecode of a loop or a function
    for _ in range(3):
        time.sleep(0)


def test_a_value_that_is_made_again() -> None:
    def rounds(watch: ValueWatch) -> None:
        for number in range(6):
            same = np.random.default_rng(0).standard_normal(1000)
            other = same + number
            few = torch.zeros(5)
            asked(watch)
            use(same, other, few)

    seen = watched(rounds)
    same, other = seen["same"], seen["other"]
    assert (same.made, same.contents, same.told, same.kind, same.bytes) == (6, 1, True, "ndarray", 8000)
    assert (other.made, other.contents) == (6, 6)
    assert same.function == "rounds" and same.first == rounds.__code__.co_firstlineno
    assert seen["few"].contents == 1 and not seen["few"].told


def test_one_that_stays_is_made_once() -> None:
    def rounds(watch: ValueWatch) -> None:
        stays, several = np.arange(5000), [list(range(3000)), {"a": 1}]
        for _ in range(4):
            asked(watch)
        use(stays, several)

    assert not {"stays", "several"} & watched(rounds).keys()


def test_a_value_of_another_kind_is_not_looked_into() -> None:
    def rounds(watch: ValueWatch) -> None:
        for number in range(4):
            own = iter([1]) if number else np.arange(3)
            asked(watch)
            use(own)

    assert watched(rounds)["own"].contents == 0


def test_what_differs_nearly_each_time_is_given_up() -> None:
    def rounds(watch: ValueWatch) -> None:
        for number in range(40):
            batch = np.arange(number, number + 2000)
            asked(watch)
            use(batch)

    seen = watched(rounds)["batch"]
    assert seen.contents == 0 and seen.made == 24


def test_no_value_lives_longer() -> None:
    kept = list[weakref.ref[Any]]()

    def rounds(watch: ValueWatch) -> None:
        for _ in range(3):
            array = np.ones(100_000)
            kept.append(weakref.ref(array))
            asked(watch)

    watched(rounds)
    gc.collect()
    assert [each() for each in kept] == [None] * 3


def test_calls_in_turn_are_seen_as_they_return() -> None:
    """What is given a value right before the end of a call is seldom there when one looks."""
    shards = [np.arange(3000.0) + number for number in range(3)]

    def item(watch: ValueWatch, shards: list[Any], number: int) -> float:
        if number % 10 == 0:
            watch._returns.end()  # what called this test never returns
            watch._may_follow = True
            watch._look()
        shard = shards[number // 10].copy()
        return float(shard[number])

    def rounds(watch: ValueWatch) -> None:
        for number in range(30):
            item(watch, shards, number)

    before = sys.gettrace()
    sys.settrace(None)
    try:
        seen = watched(rounds)
    finally:
        sys.settrace(before)
    assert (seen["shard"].made, seen["shard"].contents, seen["shard"].function) == (15, 3, "item")


def test_what_is_handed_to_a_function() -> None:
    def scored(watch: ValueWatch, table: Any, weight: int) -> None:
        asked(watch)
        use(table, weight)

    def rounds(watch: ValueWatch) -> None:
        kept = np.arange(3000.0)
        for number in range(4):
            scored(watch, np.arange(2000.0), number)
            scored(watch, kept, 0)

    seen = watched(rounds)["table"]
    assert (seen.function, seen.made, seen.contents) == ("scored", 8, 2)


def test_the_attributes_that_a_method_gives_its_object() -> None:
    class Search:
        def __init__(self) -> None:
            self.table, self.kept = np.arange(2000.0), np.arange(3000.0)

        def run(self, watch: ValueWatch) -> None:
            for _ in range(4):
                self.table = np.arange(2000.0) * 2
                asked(watch)
                use(self.kept)

    seen = watched(lambda watch: Search().run(watch))
    assert (seen["self.table"].made, seen["self.table"].contents, seen["self.table"].bytes) == (4, 1, 16_000)
    assert "self.kept" not in seen


def test_attributes_that_run_code_are_left_alone() -> None:
    class Search:
        @property
        def table(self) -> Any:
            raise AssertionError("was asked")

        @table.setter
        def table(self, value: Any) -> None:
            self.held = value

        def run(self, watch: ValueWatch) -> None:
            for _ in range(3):
                self.table = np.arange(2000.0)
                asked(watch)

    assert "self.table" not in watched(lambda watch: Search().run(watch))


def test_comprehensions_are_left_out() -> None:
    def rounds(watch: ValueWatch) -> None:
        for _ in range(3):
            squares = [asked(watch) or each for each in range(2)]
            use(squares)

    # from Python 3.12 on the variable of a comprehension belongs to the function around it
    assert watched(rounds).keys() <= {"squares", "_", "each"}


def test_a_debugger_has_the_frames_to_itself() -> None:
    def rounds(watch: ValueWatch) -> None:
        sys.settrace(lambda *_: None)
        try:
            for _ in range(3):
                array = np.ones(10)
                asked(watch)
                use(array)
        finally:
            sys.settrace(None)

    before = sys.gettrace()
    try:
        assert not watched(rounds)
    finally:
        sys.settrace(before)


def test_it_looks_less_often_where_a_look_takes_long() -> None:
    watch = ValueWatch(WatchedCell())
    watch.begin()
    watch._budget.spend(10**10)
    array = np.ones(10)
    watch.tick()
    time.sleep(0)
    watch.end()
    assert len(array) and not watch._seen


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a look changes nothing there")
def test_what_asks_for_its_variables_is_left_alone() -> None:
    def rounds(watch: ValueWatch) -> None:
        for _ in range(3):
            array = np.arange(2000)
            asked(watch)
            use(array, locals())

    assert "array" not in watched(rounds)
