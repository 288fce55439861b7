"""Whether a cell will have steps, though none has been seen."""

from __future__ import annotations

import re

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.optimizers import optimizer_made
from gpuprof.units import NS_PER_S

# `model.train()` only sets a mode
_TRAINS = re.compile(r"\.(?:step|backward|fit|train\w+)\(|(?<![.\w])train\w*\(|rainer\w*\.train\(")
_PATIENCE_NS = 10 * NS_PER_S


class StepsAhead:
    """Told by the text of the cell (None: any text), and by whether there is an optimizer.

    What is even before the first step may be a part of it, as steps may be slow.
    """

    def __init__(self, options: CaptureOptions, source: str | None):
        self._trains = source is None or _TRAINS.search(source) is not None
        # nobody asked for more or less
        self._usual = options.max_seconds is None
        self.patience_ns = _PATIENCE_NS if self._trains else 0

    def without(self, seen: int) -> bool:
        """Whether a cell with so many steps is one without, for which nobody asked for more or less."""
        return not seen and self._usual

    def expected(self, seen: int) -> bool:
        """Whether the first is still to come."""
        return self._trains and self.without(seen) and optimizer_made()
