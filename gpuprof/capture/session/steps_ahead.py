"""Whether a cell will have steps, though none has been seen."""

from __future__ import annotations

import re

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.optimizers import optimizer_made
from gpuprof.model.event_cost import EventCost
from gpuprof.units import NS_PER_S

# `model.train()` only sets a mode
_TRAINS = re.compile(r"\.(?:step|backward|fit|train\w+)\(|(?<![.\w])train\w*\(|rainer\w*\.train\(")
_PATIENCE_NS = 10 * NS_PER_S
# in a row, about ten a second
_LOOKS_WITHOUT_GRADIENTS = 2
# of an evaluation before the first step: another recording will take the place of this one
_EVENTS_BEFORE_STEPS = 60_000


class StepsAhead:
    """Told by the text of the cell (None: any text), and by whether there is an optimizer.

    What is even before the first step may be a part of it, as steps may be slow. But where no gradients are recorded,
    it is an evaluation.
    """

    def __init__(self, options: CaptureOptions, source: str | None):
        self._trains = source is None or _TRAINS.search(source) is not None
        # nobody asked for more or less
        self._usual = options.max_seconds is None
        self.patience_ns = _PATIENCE_NS if self._trains else 0
        cost = EventCost.of(stacks=options.stacks, details=options.shapes or options.memory)
        self._most_bytes = _EVENTS_BEFORE_STEPS * cost.heap_bytes
        self._without_gradients = self._least_bytes = self._last_bytes = 0

    def without(self, seen: int) -> bool:
        """Whether a cell with so many steps is one without, for which nobody asked for more or less."""
        return not seen and self._usual

    def expected(self, seen: int) -> bool:
        """Whether the first is still to come."""
        return self._trains and self.without(seen) and optimizer_made()

    def looked(self, gradients: bool, heap_bytes: int) -> None:
        """The main thread records gradients there, or it does not; the heap in use then."""
        first = not self._without_gradients
        self._without_gradients = 0 if gradients else self._without_gradients + 1
        self._least_bytes, self._last_bytes = heap_bytes if first else min(self._least_bytes, heap_bytes), heap_bytes

    def evaluated_enough(self, seen: int) -> bool:
        """Whether an evaluation runs before the first step, of which many events have been recorded."""
        if self._without_gradients < _LOOKS_WITHOUT_GRADIENTS or not self.expected(seen):
            return False
        return self._last_bytes - self._least_bytes > self._most_bytes
