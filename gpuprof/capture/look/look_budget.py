"""How much looking a cell affords, and how much a look over its iterations needs."""

from __future__ import annotations

import time

from gpuprof.capture.look.close_look import MOST_SECONDS
from gpuprof.units import NS_PER_S

ITERATIONS = 2
# by default nothing is looked at before, and looking takes at most that share of the time until then
_LEAST_CELL_NS = 2 * NS_PER_S
_MOST_SHARE = 0.05
_MOST_NS = int(MOST_SECONDS * NS_PER_S)
# what looking is expected to add to an iteration, in iterations: 0.04 to 1.7 was measured, more with tiny operators.
# Where it is more, the look is cut off, what it adds is known, and another one waits for that
_ADDED = 0.2
# the most that looking adds to an iteration with operators that are not tiny
_MOST_ADDED = 4
# a look that was cut off has seen a part of an iteration: what the rest needs may be that much more
_MARGIN = 1.25


class LookBudget:
    """From the cell's beginning. `asked`: a look was asked for, and has all of the seconds from the start.

    All looks of a cell share it. Where one is cut off, what an iteration needs is known, and another one begins once
    the cell affords it.
    """

    def __init__(self, *, asked: bool):
        self._asked = asked
        self._began_ns = time.perf_counter_ns()
        self.spent_ns = 0
        self._measured_ns: float | None = None
        self.wanted = ITERATIONS

    @property
    def old_enough(self) -> bool:
        """Whether the cell has run long enough to be looked at."""
        return self._asked or self.elapsed_ns >= _LEAST_CELL_NS

    @property
    def elapsed_ns(self) -> int:
        """Time since the cell began."""
        return time.perf_counter_ns() - self._began_ns

    @property
    def left_ns(self) -> int:
        """What looking may take now."""
        most_ns = _MOST_NS if self._asked else min(_MOST_NS, int(_MOST_SHARE * self.elapsed_ns))
        return max(most_ns - self.spent_ns, 0)

    def suffices(self, step_ns: float) -> bool:
        """Whether what is left is likely to do for all iterations; it grows up to a limit."""
        return self.left_ns >= min(_MOST_NS - self.spent_ns, self.wanted * self._needed_ns(step_ns))

    def left_beside_ns(self, step_ns: float) -> int:
        """What a look at other work may take while no iteration has been looked at: these may go on later."""
        return self.left_ns - int(min(self.left_ns / 2, _MOST_ADDED * self.wanted * step_ns))

    def iterations(self, step_ns: float) -> int:
        """How many to look at: one more where there is time for it, since values of the last are known in part only."""
        return self.wanted + ((self.wanted + 1) * self._needed_ns(step_ns) <= self.left_ns)

    def cut_off(self, cost_ns: int, set_up_ns: int, plain_ns: float, step_ns: float, *, once_ns: int = 0) -> bool:
        """A look was cut off that took `cost_ns`, its beginning included, for what takes `plain_ns` without it, of
        iterations of `step_ns`. `once_ns` of its beginning comes but once: what a device loaded.
        True where the cell may come to afford a whole one, of one iteration if need be: then it counts as spent."""
        if plain_ns <= 0 or step_ns <= 0:
            return False
        measured_ns = _MARGIN * (cost_ns - set_up_ns) * step_ns / plain_ns
        left_ns = _MOST_NS - self.spent_ns - cost_ns - (set_up_ns - once_ns)
        if measured_ns > left_ns:
            return False
        self.wanted = min(ITERATIONS, int(left_ns / measured_ns))
        self._measured_ns, self.spent_ns = measured_ns, self.spent_ns + cost_ns
        return True

    def spend(self, cost_ns: int) -> None:
        """A look that took so long was of something that is over."""
        self.spent_ns += cost_ns

    def _needed_ns(self, step_ns: float) -> float:
        return _ADDED * step_ns if self._measured_ns is None else self._measured_ns
