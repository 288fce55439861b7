"""Tries something at each line that a running function begins, and goes on with its caller as it returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out

# a loop that never comes to such a place costs no more than that
_MOST_LINES = 200


def at_next_lines(frame: FrameType, attempt: Callable[[], bool]) -> bool:
    """Arrange calls of `attempt` on this thread as `frame`, further up the stack, begins a line or returns, and then
    its callers, until it answers True, or 200 times.

    False, with nothing arranged, where something else uses Python's trace function (a debugger, a coverage tool).
    """
    if sys.gettrace() is not None or frame.f_trace is not None:
        return False
    followed: FrameType | None = frame
    left = _MOST_LINES

    def watch(running: FrameType, event: str, _: Any) -> Any:
        nonlocal followed, left
        if running is not followed or event not in ("line", "return"):
            return None  # frames that begin meanwhile are not followed
        left -= 1
        try:
            done = attempt() or left <= 0
        except BaseException as error:
            end()
            leave_out(error)
            raise
        if done:
            end()
        elif event == "return":
            climb(running.f_back)
        return None if followed is not running else watch

    def end() -> None:
        nonlocal followed
        sys.settrace(None)
        if followed is not None:
            followed.f_trace = None
        followed = None

    def climb(caller: FrameType | None) -> None:
        nonlocal followed
        end()
        if caller is not None and caller.f_trace is None:
            followed = caller
            caller.f_trace = watch
            sys.settrace(watch)

    climb(frame)
    return True
