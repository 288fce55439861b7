from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from gpuprof.capture.base import next_line
from gpuprof.capture.base.next_line import at_next_lines


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """A coverage tool has the trace function."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def noting(seen: list[str], times: int = 1) -> Callable[[], bool]:
    """Notes each call; True at the last of so many."""

    def attempt() -> bool:
        seen.append("back")
        return seen.count("back") >= times

    return attempt


def test_it_runs_as_the_frame_goes_on_to_its_next_line() -> None:
    seen: list[str] = []

    def called() -> None:
        assert at_next_lines(sys._getframe(1), noting(seen))
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
        return at_next_lines(sys._getframe(1), noting(seen))

    def caller() -> bool:
        return called()

    assert caller()
    assert seen == ["back"] and sys.gettrace() is None


def test_it_is_tried_again_at_each_line_and_then_in_the_caller() -> None:
    seen: list[str] = []

    def called() -> None:
        at_next_lines(sys._getframe(), noting(seen, times=4))
        seen.append("one")
        seen.append("two")

    called()
    seen.append("caller")
    seen.append("end")
    # two lines, the return, and the caller's next line
    assert seen == ["back", "one", "back", "two", "back", "back", "caller", "end"]
    assert sys.gettrace() is None and sys._getframe().f_trace is None


def test_what_never_succeeds_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_line, "_MOST_LINES", 5)
    seen: list[str] = []
    at_next_lines(sys._getframe(), noting(seen, times=100))
    for _ in range(20):
        pass
    assert len(seen) == 5 and sys.gettrace() is None


def test_what_it_raises_reaches_the_code_and_ends_it() -> None:
    def fails() -> bool:
        raise KeyboardInterrupt

    def interrupted() -> None:
        at_next_lines(sys._getframe(), fails)
        sum([1, 2])
        sum([1, 2])

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sys.gettrace() is None and sys._getframe().f_trace is None


def test_a_debugger_is_left_alone() -> None:
    def debugger(*_: object) -> None:
        return None

    sys.settrace(debugger)
    try:
        assert not at_next_lines(sys._getframe(), lambda: True)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
