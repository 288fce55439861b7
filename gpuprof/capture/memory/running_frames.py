"""The notebook's names and the variables of its running functions, looked at when the process, or what it has on
devices, grew.

A function's lists are gone when it returns, and a name may be emptied: what they held shows only while the cell runs.
They are looked at on the thread that runs them, between two bytecodes: no backward pass runs then, and no variable
changes.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, NamedTuple

import msgspec

from gpuprof.capture.base.main_thread import MainThreadCall
from gpuprof.capture.base.main_thread_budget import MainThreadBudget
from gpuprof.capture.memory.unnamed_lists import is_filling
from gpuprof.model.memory import HeldTensors
from gpuprof.units import NS_PER_MS

# from one look to the next: so a peak of four times the beginning is looked at ten times
_LEAST_GROWTH = 1.15
_FIRST_GROWTH_BYTES = 100 << 20
# where looks have cost little so far
_LEAST_CHEAP_GROWTH = 1.05
# of the highest level that was looked at: what was held at a lower one does not make the peak
_LEAST_LEVEL = 0.75
# of a budget of their own: one look may take 70 ms, and would leave the others nothing. Memory that grows does so but
# for a while, and what made a peak shows only then
_SHARE, _BEYOND_NS = 1.0, 60 * NS_PER_MS
_MOST_FRAMES = 100
_MOST_LOOKS = 50
_COMPREHENSION = "<listcomp>"


class Frame(NamedTuple):
    """A running function and its variables. `filling`: the function and the line (1-based) of the statement that may be
    filling a list that no name holds yet."""

    function: str
    variables: dict[str, Any]
    filling: tuple[str, int] | None = None


class RunningFrames:
    """Calls `weigh(frames)` when memory has grown, by `grown_bytes` since the first reading, where `budget` has
    time for it. Nothing is kept but the answers, with their times."""

    def __init__(
        self,
        namespace: Mapping[str, Any] | None,
        weigh: Callable[[list[Frame]], tuple[HeldTensors, ...]],
        budget: MainThreadBudget,
    ) -> None:
        self._namespace, self._weigh = namespace, weigh
        self._main = threading.get_ident()
        self._budget = budget.part(_SHARE, beyond_ns=_BEYOND_NS)
        self._next_bytes: float | None = None
        self._first_bytes = self._last_bytes = 0
        self.grown_bytes = 0
        self._looks = 0
        self._ended = False
        self._next_look = MainThreadCall(self._look, in_transforms=False)
        # each with the level
        self._seen: list[tuple[int, tuple[HeldTensors, ...]]] = []

    def tick(self, held_bytes: int) -> None:
        """From the watching thread: ask for a look where the process holds more, its devices' memory included."""
        if self._namespace is None or self._next_look.waiting or self._ended or self._looks >= _MOST_LOOKS:
            return
        if self._next_bytes is None:
            self._next_bytes = self._first_bytes = held_bytes + _FIRST_GROWTH_BYTES
        if held_bytes < self._next_bytes or not self._budget.is_left:
            cheap = self._looks and self._budget.is_little_used
            if not cheap or held_bytes < _LEAST_CHEAP_GROWTH * self._last_bytes:
                return
        self.grown_bytes = held_bytes + _FIRST_GROWTH_BYTES - self._first_bytes
        self._last_bytes = held_bytes
        self._next_bytes = _LEAST_GROWTH * held_bytes
        self._next_look.ask()

    @property
    def found(self) -> tuple[HeldTensors, ...]:
        """Each name and variable when it held most, of the looks at which memory was about highest; the largest
        first."""
        most: dict[tuple[str, str, str], HeldTensors] = {}
        for level, rows in self._seen:
            if level >= _LEAST_LEVEL * self._last_bytes:
                for row in rows:
                    key = row.name, row.kind, row.device
                    most[key] = max(most.get(key, row), row, key=_held)
        return tuple(sorted(most.values(), key=_held, reverse=True))

    def end(self) -> None:
        """No more looks."""
        self._ended = True

    def _look(self) -> None:
        if self._ended or threading.get_ident() != self._main:
            return
        self._looks += 1
        with self._budget.spending():
            try:
                now, found = time.time_ns(), self._weigh(self._frames(sys._getframe(1)))
                self._seen.append((self._last_bytes, tuple(msgspec.structs.replace(each, at_ns=now) for each in found)))
            except Exception:  # noqa: BLE001  - the user's objects may do anything: what was found before stays
                self._ended = True

    def _frames(self, frame: FrameType | None) -> list[Frame]:
        """Those of functions of the notebook, and of cells that may be filling a list, the innermost first."""
        found: list[Frame] = []
        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            if frame.f_globals is self._namespace:
                filling = _filling(frame)
                if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
                    found.append(Frame(frame.f_code.co_name, _variables(frame), filling))
                elif filling:
                    found.append(Frame(frame.f_code.co_name, {}, filling))
            frame = frame.f_back
        return found


def _held(row: HeldTensors) -> int:
    return row.bytes + (row.graph_bytes or 0)


def _filling(frame: FrameType) -> tuple[str, int] | None:
    if not is_filling(frame.f_code, frame.f_lasti):
        return None
    # before Python 3.12 a comprehension is a function of its own
    while frame.f_code.co_name == _COMPREHENSION and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_name, frame.f_lineno


def _variables(frame: FrameType) -> dict[str, Any]:
    if sys.gettrace() is not None:  # a debugger may have changed them
        return {}
    variables = frame.f_locals
    found = dict(variables)
    # before Python 3.13 this is a copy that the frame keeps: it would hold the user's tensors alive
    if sys.version_info < (3, 13) and sys.getrefcount(variables) == 3:
        variables.clear()
    return found
