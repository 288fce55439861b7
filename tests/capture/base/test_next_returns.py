"""What is called as running functions return, one after the other."""

from __future__ import annotations

import gc
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

import pytest
import torch

from gpuprof.capture.base import next_returns
from gpuprof.capture.base.next_returns import NextReturns, can_follow


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """A coverage tool has the trace function."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


class Noted:
    """What was noted, and what it cost."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.spent: list[int] = []
        self.returns = NextReturns(self._note, self.spent.append)

    def _note(self, code: CodeType, variables: Mapping[str, Any]) -> None:
        self.seen.append((code.co_name, dict(variables)))

    def of(self, name: str, function: str) -> list[Any]:
        return [variables.get(name) for called, variables in self.seen if called == function]


def test_the_running_call_and_those_after_it() -> None:
    noted = Noted()

    def item(number: int) -> int:
        if number == 0:
            noted.returns.begin([sys._getframe()], 3)
        doubled = number * 2
        return doubled if number >= 0 else 0

    for number in range(6):
        item(number)
    # a closure shares its variables with this test: it would not be asked for
    assert noted.of("doubled", "item") == [0, 2, 4]
    assert not noted.returns.running and sys.gettrace() is None and len(noted.spent) == 1


def test_inner_and_outer_functions_by_themselves() -> None:
    noted = Noted()

    def inner(number: int) -> int:
        if number == 0:
            noted.returns.begin([sys._getframe(), sys._getframe(1)], 2)
        return number + 1

    def outer(number: int) -> int:
        first = inner(number)
        second = inner(first)
        return first + second

    for number in range(5):
        outer(number)
    assert noted.of("number", "inner") == [0, 1]
    assert noted.of("second", "outer") == [2, 3]


def test_frames_are_left_as_they_were() -> None:
    noted = Noted()

    def outer() -> None:
        frame = sys._getframe()
        assert noted.returns.begin([frame], 1)
        assert frame.f_trace is not None
        noted.returns.end()
        assert frame.f_trace is None and frame.f_trace_lines
        noted.returns.end()

    outer()
    assert not noted.seen and sys.gettrace() is None


def test_it_ends_by_itself_in_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_returns, "_LONGEST_NS", 1)
    noted = Noted()

    def helper() -> None:
        pass

    def outer() -> bool:
        noted.returns.begin([sys._getframe()], 5)
        time.sleep(0.001)
        helper()
        return noted.returns.running

    assert not outer()
    assert not noted.seen and sys.gettrace() is None


def test_a_debugger_keeps_the_trace_function() -> None:
    noted = Noted()

    def watch(*_: Any) -> None: ...

    def outer() -> bool:
        sys.settrace(watch)
        try:
            return noted.returns.begin([sys._getframe()], 1)
        finally:
            sys.settrace(None)

    assert not outer()


def test_and_one_that_comes_meanwhile_too() -> None:
    noted = Noted()

    def watch(*_: Any) -> None: ...

    def outer() -> Any:
        noted.returns.begin([sys._getframe()], 1)
        sys.settrace(watch)
        noted.returns.end()
        return sys.gettrace()

    try:
        assert outer() is watch
    finally:
        sys.settrace(None)


def test_what_noting_raises_does_not_reach_the_cell() -> None:
    def fails(_: CodeType, __: Mapping[str, Any]) -> None:
        raise ValueError("of ours")

    spent: list[int] = []
    returns = NextReturns(fails, spent.append)

    def outer() -> int:
        returns.begin([sys._getframe()], 3)
        return 7

    assert [outer() for _ in range(2)] == [7, 7]
    returns.end()
    assert sys.gettrace() is None


def test_ctrl_c_reaches_the_cell() -> None:
    def interrupted(_: CodeType, __: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    returns = NextReturns(interrupted, [].append)

    def outer() -> None:
        returns.begin([sys._getframe()], 3)

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert sys.gettrace() is None and not returns.running


def test_no_argument_lives_longer_than_its_function_keeps_it() -> None:
    noted = Noted()
    died = []

    def helper() -> None:
        pass

    def frees(array: Any) -> None:
        # called while it is followed, running when that ends
        weakly = weakref.ref(array)
        helper_of_a_followed_one(0)
        del array
        gc.collect()
        died.append(weakly() is None)

    def helper_of_a_followed_one(number: int) -> int:
        return number

    def outer() -> None:
        noted.returns.begin([sys._getframe()], 1)
        next_of = [torch.ones(3)]
        noted.returns._until_ns = 0
        frees(next_of.pop())

    outer()
    assert died == [True]


def test_values_of_a_function_stay_as_they_are() -> None:
    returns = NextReturns(lambda code, variables: None, [].append)

    def item(number: int) -> list[int]:
        if number == 0:
            returns.begin([sys._getframe()], 4)
        kept = [number]
        del number
        kept.append(len(kept))
        return kept

    assert [item(number) for number in range(5)] == [[number, 1] for number in range(5)]


def test_which_functions_can_be_followed() -> None:
    shared = 1

    def plain(x: int) -> int:
        return x

    def generates() -> Iterator[int]:
        yield 1

    def closed() -> int:
        return shared

    class Child(dict[str, int]):
        def method(self) -> None:
            super().clear()

    assert can_follow(plain.__code__) and can_follow(Child.method.__code__)
    assert not can_follow(generates.__code__) and not can_follow(closed.__code__)
    assert not can_follow(compile("x = 1", "cell", "exec"))


def test_torch_compile_compiles_nothing_of_it() -> None:
    compiled_of: list[str] = []

    def backend(graph: Any, _: Any) -> Any:
        compiled_of.append("graph")
        return graph.forward

    noted = Noted()

    @torch.compile(backend=backend)
    def model(x: torch.Tensor) -> torch.Tensor:
        return x * 2 + 1

    def item(number: int) -> torch.Tensor:
        if number == 3:
            noted.returns.begin([sys._getframe()], 2)
        return model(torch.full((2,), float(number)))

    results = [float(item(number)[0]) for number in range(6)]
    assert results == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    assert len(compiled_of) == 1 and len(noted.of("number", "item")) == 2
