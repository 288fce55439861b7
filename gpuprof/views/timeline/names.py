"""The names that a timeline shows, each once: those of the trace that occur, and some of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


class NameTable:
    """Hands out indices; `texts` are the names by index."""

    def __init__(self, trace: Trace):
        self._trace = trace
        self._index = np.full(len(trace.names) + 1, -1, np.int64)
        self._place: dict[str, int] = {}
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

    def of_keys(self, keys: Array, text_of: Callable[[int], str | None]) -> Array:
        """Indices into `texts` of the text of each key, each text once; -1 for keys below 0 or without a text."""
        distinct, which = np.unique(keys, return_inverse=True)
        places = np.full(len(distinct), -1, np.int64)
        for i, key in enumerate(distinct.tolist()):
            text = text_of(key) if key >= 0 else None
            if text is not None:
                places[i] = self._place[text] if text in self._place else self._place.setdefault(text, self.add(text))
        result: Array = places[which.reshape(-1)] if len(distinct) else places
        return result
