"""What gpuprof may take of the cell's own thread for its looks between two bytecodes: one budget for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from gpuprof.units import NS_PER_MS, NS_PER_S

_FREE_NS = 16 * NS_PER_MS
# of the time after each of these moments, up to the next: the longer a cell runs, the less is new
_SHARES = ((0, 0.006), (10 * NS_PER_S, 0.0025), (30 * NS_PER_S, 0.001))
_LITTLE = 0.4


class MainThreadBudget:
    """From `begin` on. Each kind of look has a part; together they take no more than the whole.

    Times are processor time of the thread that looks: waiting for the interpreter is no cost of a look.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """The cell begins."""
        self._began_ns = time.perf_counter_ns()
        self.spent_ns = 0

    @property
    def allowed_ns(self) -> int:
        """What all looks together may have taken by now."""
        elapsed_ns = time.perf_counter_ns() - self._began_ns
        allowed_ns, before = float(_FREE_NS), 0.0
        for begin_ns, share in _SHARES:
            allowed_ns += (share - before) * max(elapsed_ns - begin_ns, 0)
            before = share
        return round(allowed_ns)

    def part(self, share: float, *, beyond_ns: int = 0) -> BudgetPart:
        """For one kind of look: `share` (0 to 1) of the whole. `beyond_ns`: what it may take besides, which takes
        nothing from the others."""
        return BudgetPart(self, share, beyond_ns)


class BudgetPart:
    """What one kind of look may take."""

    def __init__(self, whole: MainThreadBudget, share: float, beyond_ns: int):
        self._whole, self._share, self._beyond_ns = whole, share, beyond_ns
        self.spent_ns = 0

    @property
    def is_left(self) -> bool:
        """Whether there is time for a look, of this part and of the whole."""
        allowed_ns = self._whole.allowed_ns
        own_ns = self._share * allowed_ns + self._beyond_ns
        beyond = self.spent_ns <= self._beyond_ns
        return self.spent_ns <= own_ns and (beyond or self._whole.spent_ns <= allowed_ns)

    @property
    def is_little_used(self) -> bool:
        """Whether well less than the half of the part is spent."""
        return self.spent_ns < _LITTLE * self._share * self._whole.allowed_ns

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count what the thread takes inside of it."""
        began_ns = time.thread_time_ns()
        try:
            yield
        finally:
            self.spend(time.thread_time_ns() - began_ns)

    def spend(self, cost_ns: int) -> None:
        """Count that much."""
        before_ns = max(self.spent_ns - self._beyond_ns, 0)
        self.spent_ns += cost_ns
        self._whole.spent_ns += max(self.spent_ns - self._beyond_ns, 0) - before_ns
