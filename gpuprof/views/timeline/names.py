"""The names that a timeline shows, each once: those of the trace that occur, and some of its own."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class NameTable:
    """Hands out indices; `texts` are the names by index."""

    def __init__(self, trace: Trace):
        self._trace = trace
        self._index = np.full(len(trace.names) + 1, -1, np.int64)
        self.texts: list[str] = []

    def add(self, text: str) -> int:
        """The index of a name of our own."""
        self.texts.append(text)
        return len(self.texts) - 1

    def of_trace(self, names: Array) -> Array:
        """Indices into `texts` for indices into the trace's names; int64 of the same shape."""
        for new in np.unique(names[self._index[names] < 0]).tolist():
            self._index[new] = self.add(self._trace.names[new] if new >= 0 else "unnamed")
        result: Array = self._index[names]
        return result
