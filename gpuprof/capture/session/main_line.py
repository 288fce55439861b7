"""At which line of the user's code the main thread is, for a thread that asks now and then.

The main thread looks for itself: reading the frames of a thread that runs on has ended Python 3.11 with a segmentation
fault, twice in thirty cells at ten times a second.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import NamedTuple

from gpuprof.capture.base.main_thread import MainThreadCall
from gpuprof.capture.look.places import LinePath, Places


class Whereabouts(NamedTuple):
    """Where the main thread was: at `at_ns` (monotonic), at the line with the number `place` (negative: none is known),
    reached by `path`, where it recorded `gradients` or not; and what the heap held when that was asked."""

    at_ns: int
    place: int
    heap_bytes: int
    path: LinePath
    gradients: bool = True


class MainLine:
    """`ask` is for the watching thread. `filename` is the profiled cell's."""

    def __init__(self, filename: str | None):
        self._places = Places(filename)
        self._asked: deque[tuple[int, int]] = deque()
        self._answered: deque[Whereabouts] = deque()
        self._question = MainThreadCall(self._answer)

    def ask(self, heap_bytes: int) -> list[Whereabouts]:
        """What was answered since the last call. One long call answers at its end, for all that was asked meanwhile."""
        self._asked.append((time.monotonic_ns(), heap_bytes))
        self._question.ask()
        return [self._answered.popleft() for _ in range(len(self._answered))]

    def _answer(self) -> None:
        import torch

        # no name for the frame: it would hold itself, and with it the user's frames and their tensors
        place, path = self._places.of(sys._getframe()), self._places.path_of(sys._getframe())
        for _ in range(len(self._asked)):
            asked_ns, heap_bytes = self._asked.popleft()
            self._answered.append(Whereabouts(asked_ns, place, heap_bytes, path, torch.is_grad_enabled()))
