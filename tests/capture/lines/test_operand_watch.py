from __future__ import annotations

import ast
import gc
import sys
import time
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest
import torch

from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.lines.operand_watch import OperandWatch
from gpuprof.model.operands import Operand

TEXT = Path(__file__).read_text(encoding="utf-8")
WORDS = ["a", "b", "c"]


class Untouchable:
    """Whatever asks it anything runs code of the user's."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(name)

    def __len__(self) -> NoReturn:
        raise AssertionError("len")

    def __eq__(self, other: object) -> NoReturn:
        raise AssertionError("==")

    def __hash__(self) -> NoReturn:
        raise AssertionError("hash")


class Asking(type):
    def __eq__(cls, other: object) -> NoReturn:
        raise AssertionError("== of a type")

    def __hash__(cls) -> NoReturn:
        raise AssertionError("hash of a type")


class OfAsking(metaclass=Asking):
    pass


class Holder:
    def __init__(self) -> None:
        self.memory = deque(range(500))

    @property
    def computed(self) -> NoReturn:
        raise AssertionError("a property")

    def look(self, watch: OperandWatch) -> int:
        watch._look()
        try:
            return len(self.memory) + len(self.computed)
        except AssertionError:
            return len(self.memory)


@pytest.fixture
def watch() -> Iterator[OperandWatch]:
    """Running, with the text of this file read."""
    found = OperandWatch()
    found.begin()
    found._library[__file__] = False
    found._seen.read(__file__, ast.parse(TEXT))
    yield found
    found.end()


def seen(watch: OperandWatch, name: str) -> Operand:
    (found,) = (each for each in watch.facts().seen if each.name == name)
    return found


def test_kinds_and_lengths_are_noted(watch: OperandWatch) -> None:
    def looked_at() -> tuple[Any, ...]:
        words, table = ["x"] * 700, pd.DataFrame({"a": range(30)})
        column, matrix, number = table["a"], np.zeros((40, 2)), 3
        watch._look()
        return words, table, column, matrix, number, WORDS, np.argsort

    looked_at()
    assert (seen(watch, "words").kind, seen(watch, "words").most) == ("builtins.list", 700)
    assert seen(watch, "table").most == 30 and seen(watch, "table").kind.endswith("DataFrame")
    assert seen(watch, "column").most == 30
    assert (seen(watch, "matrix").kind, seen(watch, "matrix").most) == ("numpy.ndarray", 40)
    assert seen(watch, "WORDS").most == 3
    assert not seen(watch, "words").callable
    assert "number" not in {each.name for each in watch.facts().seen}


def test_the_kind_of_the_items_of_a_list(watch: OperandWatch) -> None:
    def looked_at() -> tuple[Any, ...]:
        arrays, queue, things = [np.zeros(3)], deque([1.5]), [Untouchable(), OfAsking()]
        empty, number_of = [], {"a": 1}  # type: ignore[var-annotated]
        watch._look()
        return arrays, queue, things, empty, number_of

    looked_at()
    found = {each.name: each.items for each in watch.facts().seen}
    assert (found["arrays"], found["queue"], found["empty"]) == ("numpy.ndarray", "builtins.float", "")
    assert found["things"].endswith("Untouchable") and found["number_of"] == ""


def test_whether_it_is_the_same_object_and_how_it_grows(watch: OperandWatch) -> None:
    def looked_at() -> tuple[list[int], list[int]]:
        kept: list[int] = []
        for each in range(3):
            kept.append(each)
            new = [each] * 5
            watch._look()
        return kept, new

    looked_at()
    kept, new = seen(watch, "kept"), seen(watch, "new")
    assert (kept.same, kept.least, kept.most, kept.looks) == (True, 1, 3, 3)
    assert (new.same, new.least, new.most) == (False, 5, 5)


def test_elements_of_tensors_and_arrays(watch: OperandWatch) -> None:
    def looked_at() -> tuple[Any, ...]:
        array, weight = np.zeros((3, 4)), torch.nn.Parameter(torch.zeros(2))
        for each in (2, 5):
            text = torch.zeros(4, each)
            watch._look()
        return array, weight, text

    looked_at()
    text, array = seen(watch, "text"), seen(watch, "array")
    assert (text.fewest_elements, text.most_elements, text.least) == (8, 20, None)
    assert (array.fewest_elements, array.most_elements, array.least) == (12, 12, 3)
    # of a class of its own, which may do anything
    assert seen(watch, "weight").most_elements is None


def test_elements_of_tables(watch: OperandWatch) -> None:
    class Own(pd.DataFrame):
        @property
        def shape(self) -> NoReturn:
            raise AssertionError("a property")

    def looked_at() -> tuple[Any, ...]:
        table, own = pd.DataFrame(np.zeros((30, 4))), Own(np.zeros((5, 3)))
        column = table[0]
        watch._look()
        return table, own, column

    looked_at()
    found = {name: (seen(watch, name).most, seen(watch, name).most_elements) for name in ("table", "column")}
    assert found == {"table": (30, 120), "column": (30, 30)}


def test_sizes_of_what_grows_and_is_begun_anew(watch: OperandWatch) -> None:
    def looked_at() -> tuple[Any, ...]:
        stays, other = [0] * 5, list[int]()
        for each in range(24):
            kept = [] if each % 12 == 0 else [*kept, each]  # noqa: F821
            other = [0] * (each % 3)
            watch._look()
        return kept, stays, other

    began_ns = time.time_ns()
    looked_at()
    times, sizes = zip(*seen(watch, "kept").sizes, strict=True)
    assert sizes == (*range(12), *range(12))
    assert list(times) == sorted(times) and began_ns <= times[0] <= times[-1] <= time.time_ns()
    # two of three changes make it longer; or none does
    assert seen(watch, "other").sizes == seen(watch, "stays").sizes == ()


def test_a_mode_of_the_users_is_not_asked_for_elements(watch: OperandWatch) -> None:
    class Mode(torch.overrides.TorchFunctionMode):
        asked = 0

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.asked += 1
            return function(*args, **(kwargs or {}))

    def looked_at() -> tuple[torch.Tensor, int]:
        text = torch.zeros(4, 5)
        with Mode() as mode:
            watch._look()
        return text, mode.asked

    assert looked_at()[1] == 0
    assert seen(watch, "text").most_elements is None


def test_attributes_are_read_and_properties_are_not(watch: OperandWatch) -> None:
    Holder().look(watch)
    assert (seen(watch, "self.memory").kind, seen(watch, "self.memory").most) == ("collections.deque", 500)
    assert seen(watch, "self").holds == 500
    assert "self.computed" not in {each.name for each in watch.facts().seen}


def test_no_code_of_the_users_runs(watch: OperandWatch) -> None:
    def looked_at() -> tuple[Any, ...]:
        thing, other = Untouchable(), OfAsking()
        watch._look()
        return thing, other, OfAsking, Untouchable

    looked_at()
    assert seen(watch, "thing").kind.endswith("Untouchable")
    assert seen(watch, "other").kind.endswith("OfAsking")


def test_nothing_lives_longer(watch: OperandWatch) -> None:
    class Thing:
        pass

    def looked_at() -> bool:
        thing = Thing()
        seen_thing = weakref.ref(thing)
        watch._look()
        del thing
        return seen_thing() is None

    gc.disable()  # and no cycle would keep it until then
    try:
        assert looked_at()
    finally:
        gc.enable()
    assert seen(watch, "thing").looks == 1


def test_variables_are_as_before(watch: OperandWatch) -> None:
    def looked_at(given: int) -> tuple[int, list[int]]:
        kept = [given]
        for _ in range(3):
            kept = [*kept, given]
            watch._look()
        inner = [each + given for each in kept]
        return given, inner

    assert looked_at(2) == (2, [4, 4, 4, 4])


def test_a_function_that_asks_for_its_variables_keeps_them(watch: OperandWatch) -> None:
    def looked_at() -> dict[str, Any]:
        words = ["x"] * 70
        mine = locals()
        mine["added"] = words
        watch._look()
        return mine

    assert set(looked_at()) >= {"words", "added", "watch"}
    if sys.version_info < (3, 13):
        assert "words" not in {each.name for each in watch.facts().seen}


def test_a_traced_function_is_left_alone(watch: OperandWatch) -> None:
    def looked_at() -> list[str]:
        words = ["x"] * 70
        watch._look()
        return words

    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        looked_at()
    finally:
        sys.settrace(before)
    assert watch.facts().looks == 0


def test_names_of_the_notebook_in_functions_that_no_look_fell_on() -> None:
    cell = "ipykernel_1/100.py"
    source = "def encode(seq):\n    return [WORDS.index(each) for each in seq]\n"
    watch = OperandWatch(WatchedCell({"WORDS": WORDS, "seq": [1]}, source))
    watch.begin()
    watch._library[cell] = False
    watch._seen.read(cell, ast.parse(source))
    watch._look()
    watch.end()
    assert [(each.name, each.most) for each in watch.facts().seen] == [("WORDS", 3)]


def test_after_the_end_nothing_is_seen(watch: OperandWatch) -> None:
    watch.end()
    watch.tick()
    watch._look()
    assert watch.facts().seen == () and watch.facts().looks == 0


def test_looks_stop_at_their_share_of_the_time(watch: OperandWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "gpuprof.capture.base.main_thread.call_on_main_thread", lambda call: bool(asked.append(call)) or True
    )
    watch._budget.spend(10**12)
    watch.tick()
    assert not asked
    watch._budget.spend(-(10**12))
    watch.tick()
    watch.tick()
    assert len(asked) == 1


def test_a_text_is_not_parsed_while_another_one_is(watch: OperandWatch) -> None:
    """GIVEN a look that comes within `ast.parse`: Python 3.11 would fail to make the tree that it has begun."""
    watch._texts.append(("other.py", "a = 1\n"))
    exec(compile("look()", ast.__file__, "exec"), {"look": watch._look})
    assert watch._texts and not watch._trees
    watch._look()
    assert not watch._texts and [filename for filename, _ in watch._trees] == ["other.py"]
