from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from gpuprof.capture.base.next_line import at_next_line


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """A coverage tool has the trace function."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def test_it_runs_as_the_frame_goes_on_to_its_next_line() -> None:
    seen: list[str] = []

    def called() -> None:
        assert at_next_line(sys._getframe(1), lambda: seen.append("back"))
        sum([1, 2])
        inner()
        seen.append("still in the call")

    def inner() -> None:
        seen.append("deeper")

    called()
    seen.append("after")
    assert seen == ["deeper", "still in the call", "back", "after"]
    assert sys.gettrace() is None and sys._getframe().f_trace is None


def test_or_as_it_returns() -> None:
    seen: list[str] = []

    def called() -> bool:
        return at_next_line(sys._getframe(1), lambda: seen.append("back"))

    def caller() -> bool:
        return called()

    assert caller()
    assert seen == ["back"] and sys.gettrace() is None


def test_once_in_a_loop() -> None:
    seen: list[int] = []
    for number in range(3):
        if not number:
            at_next_line(sys._getframe(), lambda: seen.append(len(seen)))
    assert seen == [0]


def test_a_debugger_is_left_alone() -> None:
    def debugger(*_: object) -> None:
        return None

    sys.settrace(debugger)
    try:
        assert not at_next_line(sys._getframe(), lambda: None)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
