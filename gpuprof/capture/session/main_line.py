"""At which line of the user's code the main thread is, for a thread that asks now and then.

The main thread looks for itself: reading the frames of a thread that runs on has ended Python 3.11 with a segmentation
fault, twice in thirty cells at ten times a second.
"""

from __future__ import annotations

import sys
import time
from collections import deque

from gpuprof.capture.base.main_thread import MainThreadCall
from gpuprof.capture.look.places import Places
from gpuprof.model.look import LookedPlace


class MainLine:
    """`ask` is for the watching thread. `filename` is the profiled cell's."""

    def __init__(self, filename: str | None):
        self._places = Places(filename)
        self._asked: deque[tuple[int, int]] = deque()
        self._answered: deque[tuple[int, int, int]] = deque()
        self._question = MainThreadCall(self._answer)

    def ask(self, heap_bytes: int) -> list[tuple[int, int, int]]:
        """`(monotonic ns, place, heap bytes then)` of what was answered since the last call; a place is a number,
        negative where no line is known. One long call answers at its end, for all that was asked meanwhile."""
        self._asked.append((time.monotonic_ns(), heap_bytes))
        self._question.ask()
        return [self._answered.popleft() for _ in range(len(self._answered))]

    def line(self, place: int) -> LookedPlace | None:
        """The line that a place is."""
        return self._places.found[place] if place >= 0 else None

    def _answer(self) -> None:
        place = self._places.of(sys._getframe())
        for _ in range(len(self._asked)):
            asked_ns, heap_bytes = self._asked.popleft()
            self._answered.append((asked_ns, place, heap_bytes))
