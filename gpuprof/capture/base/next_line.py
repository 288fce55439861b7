"""Calls a function as soon as one frame of the running stack begins its next line: back from the call that it is in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out


def at_next_line(frame: FrameType, callback: Callable[[], None]) -> bool:
    """Arrange one call of `callback` on this thread as `frame`, further up the stack, begins a line or returns.

    False, with nothing arranged, where something else uses Python's trace function (a debugger, a coverage tool).
    """
    if sys.gettrace() is not None or frame.f_trace is not None:
        return False

    def watch(running: FrameType, event: str, _: Any) -> Any:
        if running is not frame or event not in ("line", "return"):
            return None  # frames that begin meanwhile are not followed
        sys.settrace(None)
        frame.f_trace = None
        try:
            callback()
        except BaseException as error:
            leave_out(error)
            raise
        return None

    frame.f_trace = watch
    sys.settrace(watch)
    return True
