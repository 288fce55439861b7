"""How many steps a cell has made, from optimizer steps and DataLoader batches."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from array import array
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.units import NS_PER_S

_MOST_ENDS = 100_000
_FEWEST_STEPS = 8
_RECENT_STEPS = 512
_RECENT_NS = 5 * NS_PER_S
# without a step for so long, and for so many times the usual one, the cell is doing something else
_PAUSE_NS = 2 * NS_PER_S
_PAUSE_STEPS = 10


class StepSource(IntEnum):
    """What steps are counted by; a higher one is trusted over a lower one."""

    NOTHING = 0
    LOADER = 1
    OPTIMIZER = 2


class StepCount:
    """Counts steps over a whole cell.

    A step is one `step()` of the optimizer that stepped most: two optimizers that alternate (a GAN), or one per
    parameter, make one step together, and gradient accumulation makes one of several batches. Where no optimizer
    steps, a step is one batch, of the DataLoader that gave most, whose work has ended: the next one is asked for.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._by_optimizer = 0
        self._by_loader = 0
        self._clock_ns = clock_ns
        self._optimizer_ends_ns = array("q")
        self._loader_ends_ns = array("q")
        self._optimizers_ns = 0
        self._spent_ns = array("q")
        self._last_sign_ns = 0
        self._left_out: list[tuple[int, int]] = []

    @property
    def source(self) -> StepSource:
        """What `seen` counts."""
        if self._by_optimizer:
            return StepSource.OPTIMIZER
        return StepSource.LOADER if self._by_loader else StepSource.NOTHING

    @property
    def seen(self) -> int:
        """Steps that have ended."""
        return self._by_optimizer or max(self._by_loader, 0)

    def optimizer_stepped(self, times: int, took_ns: int = 0) -> None:
        """One optimizer has now stepped `times` times in this cell; the last one took so long, its closure apart."""
        self._optimizers_ns += took_ns
        self._last_sign_ns = self._clock_ns()
        self._by_optimizer = max(self._by_optimizer, times)
        if self._note(self._optimizer_ends_ns, self._by_optimizer):
            self._spent_ns.extend([0] * (len(self._optimizer_ends_ns) - len(self._spent_ns)))
            self._spent_ns[-1], self._optimizers_ns = self._optimizers_ns, 0

    def batches_used(self, batches: int) -> None:
        """One DataLoader has now given `batches` batches in this cell whose work has ended."""
        self._by_loader = max(self._by_loader, batches)
        if not self._by_optimizer:
            self._last_sign_ns = self._clock_ns()
        self._note(self._loader_ends_ns, self._by_loader)

    def leave_out(self, first: int, last: int) -> None:
        """Steps `first` to `last` were slowed down by us: they are not plain, and in no median."""
        self._left_out.append((first, last))

    def median_ns(self, first: int, end: int | None = None) -> float | None:
        """Median duration of steps `first` to `end` − 1 (counted from 0), ns; None where they are under eight."""
        times = self._durations_ns(first, end)
        return statistics.median(times) if times else None

    def median_error_share(self, first: int, end: int | None = None) -> float | None:
        """Standard error of that median over it: 1.25 σ/√n with σ = inter-quartile range ÷ 1.35 (normal steps)."""
        times = self._durations_ns(first, end)
        if not times:
            return None
        low, median, high = statistics.quantiles(times, n=4)
        return 1.25 * (high - low) / 1.35 / math.sqrt(len(times)) / median if median > 0 else None

    def _durations_ns(self, first: int, end: int | None) -> list[int]:
        """Of steps `first` to `end` − 1; none where they are under eight."""
        ends = self._optimizer_ends_ns if self._by_optimizer else self._loader_ends_ns
        begin = max(first - 1, 0)
        chosen = ends[begin:end]
        if len(chosen) <= _FEWEST_STEPS:
            return []
        steps = enumerate(itertools.pairwise(chosen), start=begin + 1)
        return [after - before for step, (before, after) in steps if not self._slowed(step)]

    def _slowed(self, step: int) -> bool:
        return any(first <= step <= last for first, last in self._left_out)

    def iterations(self, plain_from: int) -> Table:
        """Steps 1 and later (where step 0 began is not known), those from `plain_from` on as plain but for those that
        were left out."""
        ends = np.array(self._optimizer_ends_ns if self._by_optimizer else self._loader_ends_ns, np.int64)
        ends += time.time_ns() - self._clock_ns()
        plain = np.arange(1, len(ends)) >= plain_from
        for first, last in self._left_out:
            plain[max(first - 1, 0) : max(last, 0)] = False
        columns = {"start_ns": ends[:-1], "duration_ns": np.diff(ends), "plain": plain}
        if self._by_optimizer:
            columns["optimizer_ns"] = np.array(self._spent_ns, np.int64)[1 : len(ends)]
        return Table(ITERATIONS, columns)

    def recent_ns(self) -> float | None:
        """About how long a step takes: the median of the last ones; None before the second."""
        ends = self._optimizer_ends_ns if self._by_optimizer else self._loader_ends_ns
        recent = ends[-_FEWEST_STEPS:]
        return statistics.median(after - before for before, after in itertools.pairwise(recent)) if recent[1:] else None

    @property
    def pausing(self) -> bool:
        """Whether the last step of any optimizer ended long ago: the cell is doing something else, such as an
        evaluation."""
        step_ns = self.recent_ns()
        return step_ns is not None and self._clock_ns() - self._last_sign_ns > max(_PAUSE_NS, _PAUSE_STEPS * step_ns)

    def rate_hz(self) -> float | None:
        """Steps a second over the last seconds, the time since the last step included; None before the second step."""
        ends = self._optimizer_ends_ns if self._by_optimizer else self._loader_ends_ns
        now = self._clock_ns()
        recent = ends[-_RECENT_STEPS:]
        if len(recent) < 2 or len(ends) >= _MOST_ENDS:
            return None
        first = next((i for i, end in enumerate(recent[:-1]) if now - end <= _RECENT_NS), len(recent) - 2)
        return (len(recent) - 1 - first) / max(now - recent[first], 1) * NS_PER_S

    def _note(self, ends: array[int], count: int) -> bool:
        """Note the end of a step, and return True, where `count` says that there is a new one."""
        if len(ends) >= min(count, _MOST_ENDS):
            return False
        now = self._clock_ns()
        ends.extend([now] * (min(count, _MOST_ENDS) - len(ends)))
        return True
