"""How many figures of matplotlib's pyplot a cell opens and does not close."""

from __future__ import annotations

import contextlib
import sys

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.model.context import PyplotFigures

# where pyplot keeps its open figures; it is never imported here
_KEPT_IN = "matplotlib._pylab_helpers"


class FigureWatch(Signal):
    """Looks at pyplot's list of figures: at both ends of the cell, and about ten times a second.

    IPython's inline backend shows and closes all figures after the cell has run and before it has ended for us
    (`post_execute` comes before `post_run_cell`): those are only seen on the way.
    """

    field = "figures"
    ends_first = True

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._before = frozenset[int]()
        self._most = 0
        self._left = 0

    def begin(self) -> None:
        """What is open already is none of this cell's."""
        self._before = _open_figures()

    def tick(self, resident_bytes: int) -> None:
        """Count."""
        with contextlib.suppress(RuntimeError):  # the list has changed while it was copied: the next look will do
            self._most = max(self._most, self._opened())

    def end(self) -> None:
        """Count what is left."""
        self._left = self._opened()
        self._most = max(self._most, self._left)

    def facts(self) -> PyplotFigures:
        """Zeros for a cell without figures."""
        return PyplotFigures(left=self._left, most=self._most)

    def _opened(self) -> int:
        return len(_open_figures() - self._before)


def _open_figures() -> frozenset[int]:
    """Which are open, by the identity of what manages each: a number may be used again. Empty without pyplot."""
    kept = getattr(getattr(sys.modules.get(_KEPT_IN), "Gcf", None), "figs", None)
    # a copy first: the cell's thread may open another meanwhile
    return frozenset(map(id, list(kept.values()))) if isinstance(kept, dict) else frozenset()
