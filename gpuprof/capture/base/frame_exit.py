"""Calls a function when one frame of the running stack returns: after `Optimizer.step`, with its span closed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out


def when_frame_returns(frame: FrameType, callback: Callable[[], None]) -> bool:
    """Arrange one call of `callback` on this thread as `frame` (further up the stack) returns.

    False, with nothing arranged, where something else uses Python's profile function (a profiler, stacks recording).
    """
    if sys.getprofile() is not None:
        return False

    def watch(returning: FrameType, event: str, _: Any) -> None:
        if event == "return" and returning is frame:
            sys.setprofile(None)
            try:
                callback()
            except BaseException as error:
                leave_out(error)
                raise

    sys.setprofile(watch)
    return True
