"""Calls a function as running functions return, and at their next calls: their variables all have their values then.

By Python's trace function, for some milliseconds: meanwhile Python code runs slower, two or three times as slow in
CPython 3.11. Only on the main thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

from gpuprof.capture.base.compiler_skips import hide_from_compiler
from gpuprof.capture.base.frame_variables import with_variables
from gpuprof.capture.base.main_thread import begin_unseen, end_unseen
from gpuprof.capture.base.tracebacks import leave_out
from gpuprof.units import NS_PER_MS

_OPTIMIZED, _SUSPENDED = 0x1, 0x20 | 0x80 | 0x200  # functions; generators and coroutines, which return to go on
_LONGEST_NS = 7 * NS_PER_MS
_MOST_EVENTS = 3000

Note = Callable[[CodeType, Mapping[str, Any]], None]


def can_follow(code: CodeType) -> bool:
    """Whether it is a function whose variables can be read as it returns, with no other function sharing them."""
    shared = set(code.co_freevars) - {"__class__"} or code.co_cellvars
    return bool(code.co_flags & _OPTIMIZED) and not code.co_flags & _SUSPENDED and not shared


class NextReturns:
    """`note(code, variables)` for each return of the functions that `begin` is given, the first `times` of each.

    It ends by itself after 7 ms, as soon as Python code comes to a call; `end` ends it earlier. `spend` is told what it
    took in nanoseconds of the thread.
    """

    def __init__(self, note: Note, spend: Callable[[int], None]):
        self._note, self._spend = note, spend
        self._left: dict[CodeType, int] = {}
        self._followed: list[FrameType] = []
        self._before = frozenset[int]()
        self._events = self._began_ns = self._until_ns = 0
        self.running = False

    def begin(self, frames: Sequence[FrameType], times: int) -> bool:
        """Follow `frames`, the innermost first, all of them on the stack.

        False where something else uses the trace function (a debugger, a coverage tool).
        """
        if self.running or sys.gettrace() is not None or any(each.f_trace is not None for each in frames):
            return False
        _prepare()
        self._left = dict.fromkeys((each.f_code for each in frames), times)
        self._before = frozenset(id(each) for each in _with_callers(frames[0]))
        self._events = _MOST_EVENTS
        self._began_ns, self._until_ns = time.thread_time_ns(), time.perf_counter_ns() + _LONGEST_NS
        self.running = True
        for each in frames:
            self._follow(each)
        sys.settrace(self._begins)
        return True

    def end(self) -> None:
        """Follow no more, and leave the frames as they were; on the thread that began."""
        if not self.running:
            return
        self.running = False
        if sys.gettrace() == self._begins:
            sys.settrace(None)
        for each in self._followed:
            if each.f_trace == self._returns:
                each.f_trace = None
            each.f_trace_lines = True
        self._followed.clear()
        self._spend(time.thread_time_ns() - self._began_ns)

    def _follow(self, frame: FrameType) -> None:
        frame.f_trace, frame.f_trace_lines = self._returns, False
        self._followed.append(frame)

    def _begins(self, frame: FrameType, _event: str, _: Any) -> Any:
        """Of each Python function that begins."""
        if self._is_over():
            self._end_within(frame)
        elif self._left.get(frame.f_code, 0) > 0:
            self._follow(frame)
            return self._returns
        return None

    def _returns(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "return" or not self.running:
            return self._returns if self.running else None
        code = frame.f_code
        if frame in self._followed:
            self._followed.remove(frame)
        if self._left.get(code, 0) > 0:
            self._left[code] -= 1
            self._tell(frame)
        if self._is_over() or not any(self._left.values()):
            self._end_within(frame)
        return None

    def _tell(self, frame: FrameType) -> None:
        unseen = begin_unseen()
        try:
            self._note(frame.f_code, frame.f_locals)
        except Exception:  # noqa: BLE001  - in the middle of the user's code: nobody to tell
            self._until_ns = 0
        except BaseException as error:  # Ctrl-C
            self.end()
            leave_out(error)
            raise
        finally:
            end_unseen(unseen)

    def _is_over(self) -> bool:
        self._events -= 1
        return self._events <= 0 or time.perf_counter_ns() > self._until_ns

    def _end_within(self, frame: FrameType) -> None:
        """End it in an event of `frame`: CPython has put the variables of those further up the stack in dicts, which
        would keep them."""
        unseen = begin_unseen()
        try:
            self.end()
            for each in _with_callers(frame.f_back):
                if id(each) in self._before:
                    break
                with_variables(each, _leave)
        finally:
            end_unseen(unseen)


def _with_callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _leave(_: Mapping[str, Any]) -> None:
    """Nothing is read."""


_hidden = False


def _prepare() -> None:
    global _hidden
    if "torch" in sys.modules and not _hidden:
        _hidden = True
        hide_from_compiler(NextReturns)
