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

from gpuprof.capture.look.places import LinePath
from gpuprof.capture.session.step_loops import StepLoops
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Array, Table
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
    parameter, make one step together, and gradient accumulation makes one of several batches. Loops that train one
    after the other each have their own. Where no optimizer
    steps, a step is one batch, of the DataLoader that gave most, whose work has ended: the next one is asked for.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        # `seen`: the steps that have ended; `source`: what they are counted by
        self.source, self.seen = StepSource.NOTHING, 0
        self._by_optimizer = 0
        self._by_loader = 0
        self._clock_ns = clock_ns
        self._optimizer_ends_ns = array("q")
        self._loader_ends_ns = array("q")
        self._loops = StepLoops()
        # where the optimizer of the loop that runs now first stepped
        self.loop: LinePath = ()
        self._spent_ns = array("q")
        self._last_sign_ns = 0
        self._left_out: list[tuple[int, int]] = []
        # the last answer of `recent_ns`, and what it was of: it is asked for several times in a step
        self._recent: tuple[int, bool, float | None] = (0, False, None)

    def optimizer_stepped(self, optimizer: int = 0, took_ns: int = 0, where: LinePath = ()) -> None:
        """An optimizer, told apart by a number, has stepped. That took so long, its closure apart. `where`: the lines
        in which it first stepped."""
        now = self._last_sign_ns = self._clock_ns()
        for ended in self._loops.stepped(optimizer, where, now, took_ns):
            self._by_optimizer += 1
            if len(self._optimizer_ends_ns) < _MOST_ENDS:
                self._optimizer_ends_ns.append(ended.end_ns)
                self._spent_ns.append(ended.optimizers_ns)
            self.source, self.seen = StepSource.OPTIMIZER, self._by_optimizer
        self.loop = self._loops.last

    def batches_used(self, batches: int) -> None:
        """One DataLoader has now given `batches` batches in this cell whose work has ended."""
        if self._by_optimizer:
            return
        self._last_sign_ns = self._clock_ns()
        self._by_loader = max(self._by_loader, batches)
        if self._by_loader:
            self.source, self.seen = StepSource.LOADER, self._by_loader
        ends = self._loader_ends_ns
        ends.extend([self._last_sign_ns] * (min(self._by_loader, _MOST_ENDS) - len(ends)))

    def leave_out(self, first: int, last: int) -> None:
        """Steps `first` to `last` were slowed down by us: they are not plain, and in no median."""
        self._left_out.append((first, last))

    def median_ns(self, first: int, end: int) -> float | None:
        """Median duration of steps `first` to `end` − 1 (counted from 0) that are of the last one's loop, ns; None
        where they are under eight."""
        alike = self._alike(end - 1)
        alike[:first] = alike[end:] = False
        return _median(self._durations_ns(alike))

    def plain_median_ns(self, first: int, last: int) -> float | None:
        """The same of the plain steps of a recording that began in step `first` and ended in step `last`."""
        return _median(self._durations_ns(self._beside(first, last)))

    def plain_error_share(self, first: int, last: int) -> float | None:
        """Standard error of that median over it: 1.25 σ/√n with σ = inter-quartile range ÷ 1.35 (normal steps)."""
        times = self._durations_ns(self._beside(first, last))
        if len(times) < _FEWEST_STEPS:
            return None
        low, median, high = statistics.quantiles(times, n=4)
        return 1.25 * (high - low) / 1.35 / math.sqrt(len(times)) / median if median > 0 else None

    def iterations(self, first: int, last: int | None) -> Table:
        """Steps 1 and later (where step 0 began is not known). The recording began in step `first` and ended in step
        `last` (None: with the cell). Plain are the other steps of the same loop that were not left out."""
        ends = self._ends
        plain = np.zeros(max(len(ends) - 1, 0), bool) if last is None else self._plain(first, last)[1:]
        ends_ns = np.array(ends, np.int64) + time.time_ns() - self._clock_ns()
        columns = {"start_ns": ends_ns[:-1], "duration_ns": np.diff(ends_ns), "plain": plain}
        if self._by_optimizer:
            columns["optimizer_ns"] = np.array(self._spent_ns, np.int64)[1 : len(ends)]
        return Table(ITERATIONS, columns)

    def prevails_over(self, loop: LinePath) -> bool:
        """Whether another loop than that runs now, and has taken longer."""
        return self.loop != loop and self._loops.last_is_longer_than(loop)

    @property
    def _ends(self) -> array[int]:
        return self._optimizer_ends_ns if self._by_optimizer else self._loader_ends_ns

    def _durations_ns(self, chosen: Array) -> list[int]:
        ends = np.array(self._ends, np.int64)
        durations: list[int] = np.diff(ends, prepend=ends[:1])[chosen].tolist()
        return durations

    def _beside(self, first: int, last: int) -> Array:
        plain = self._plain(first, last)
        plain[last + 1 : last + 2] = False  # the step after the one in which the recording was saved
        return plain

    def _plain(self, first: int, last: int) -> Array:
        plain = self._alike(max(last - 1, first))
        plain[first : last + 1] = False
        return plain

    def _alike(self, step: int) -> Array:
        """Whether each step is of that step's loop, and not left out; shape (steps,)."""
        count = len(self._ends)
        alike = self._loops.alike(count, step) if self._by_optimizer else np.ones(count, bool)
        alike[:1] = False
        for first, last in self._left_out:
            alike[first : last + 1] = False
        return alike

    def recent_ns(self) -> float | None:
        """About how long a step takes: the median of the last ones; None before the second."""
        ends = self._ends
        if self._recent[:2] != (len(ends), self._by_optimizer > 0):
            recent = ends[-_FEWEST_STEPS:]
            times = [after - before for before, after in itertools.pairwise(recent)]
            self._recent = (len(ends), self._by_optimizer > 0, statistics.median(times) if times else None)
        return self._recent[2]

    @property
    def pausing(self) -> bool:
        """Whether the last step of any optimizer ended long ago: the cell is doing something else, such as an
        evaluation."""
        step_ns = self.recent_ns()
        return step_ns is not None and self._clock_ns() - self._last_sign_ns > max(_PAUSE_NS, _PAUSE_STEPS * step_ns)

    def rate_hz(self) -> float | None:
        """Steps a second over the last seconds, the time since the last step included; None before the second step."""
        ends = self._ends
        now = self._clock_ns()
        recent = ends[-_RECENT_STEPS:]
        if len(recent) < 2 or len(ends) >= _MOST_ENDS:
            return None
        first = next((i for i, end in enumerate(recent[:-1]) if now - end <= _RECENT_NS), len(recent) - 2)
        return (len(recent) - 1 - first) / max(now - recent[first], 1) * NS_PER_S


def _median(times: list[int]) -> float | None:
    return statistics.median(times) if len(times) >= _FEWEST_STEPS else None
