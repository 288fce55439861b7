"""How long an iteration takes without the recording, and how much of it waits for data: by light hooks alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# fewer show no median that would hold
FEWEST = 8
# iterations with an evaluation, a checkpoint or a new epoch in them are not like the others
_UNLIKE = 3.0


@dataclass(frozen=True)
class IterationTime:
    """Iterations of one kind. `median_ns`; `wait_ns`: the mean wait for batches in one, 0 where none was waited for;
    `mean_ns` the mean length; `error`: the standard error of that mean, as a share of it."""

    count: int
    median_ns: float
    mean_ns: float
    wait_ns: float
    error: float

    @property
    def wait_share(self) -> float:
        """Of these iterations' time, 0..1."""
        return min(self.wait_ns / self.mean_ns, 1.0) if self.mean_ns else 0.0

    @property
    def rest_ns(self) -> float:
        """The mean time of one without its wait for batches."""
        return max(self.mean_ns - self.wait_ns, 0.0)


@dataclass(frozen=True)
class PlainIterations(Result):
    """The iterations of the cell outside the recording and in it; each None where fewer than FEWEST are known.

    Both leave out what took more than three times the median. Recorded ones also leave out the warm-up.
    """

    plain: IterationTime | None
    recorded: IterationTime | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From `iterations`, and the times of each loader's waits."""
        rows, window = trace.iterations, trace.context.window
        if not rows or window is None:
            return cls(None, None)
        number = np.arange(1, len(rows) + 1)
        skipped = window.first_step + int(trace.context.options.get("skip") or 0)
        inside = (number > skipped) & (number < window.first_step + window.steps_recorded)
        waits = _waits(trace, rows)
        return cls(_time(rows, waits, rows["plain"]), _time(rows, waits, inside & ~rows["plain"]))

    @property
    def wait_factor(self) -> float | None:
        """By what a recorded wait for a batch has to be multiplied to be one without the recording."""
        if self.plain is None or self.recorded is None or not self.recorded.wait_ns:
            return None
        return self.plain.wait_ns / self.recorded.wait_ns

    @property
    def rest_factor(self) -> float | None:
        """The same of all that is not such a wait."""
        if self.plain is None or self.recorded is None or not self.recorded.rest_ns:
            return None
        return self.plain.rest_ns / self.recorded.rest_ns

    @property
    def error(self) -> float:
        """The standard error of those factors, as a share of them; 0 where there are none."""
        if self.plain is None or self.recorded is None:
            return 0.0
        return float(np.hypot(self.plain.error, self.recorded.error))


def _waits(trace: Trace, rows: Table) -> Array:
    """How long each iteration waited for batches, ns, of the shape of `rows`: every wait counts where it began."""
    starts = [np.array(each.wait_start_ns, np.int64) for each in trace.context.loaders]
    lengths = [np.array(each.wait_ns, np.int64) for each in trace.context.loaders]
    if not starts:
        return np.zeros(len(rows))
    begun, took = np.concatenate(starts), np.concatenate(lengths)
    at = np.searchsorted(rows["start_ns"], begun, side="right") - 1
    known = (at >= 0) & (begun < (rows["start_ns"] + rows["duration_ns"])[np.maximum(at, 0)])
    return np.bincount(at[known], weights=took[known], minlength=len(rows))


def _time(rows: Table, waits: Array, chosen: Array) -> IterationTime | None:
    lengths, waited = rows["duration_ns"][chosen], waits[chosen]
    if len(lengths) < FEWEST:
        return None
    like = lengths <= _UNLIKE * np.median(lengths)
    lengths, waited = lengths[like], np.minimum(waited[like], lengths[like])
    mean = float(lengths.mean())
    error = float(lengths.std() / np.sqrt(len(lengths)) / mean) if mean else 0.0
    return IterationTime(len(lengths), float(np.median(lengths)), mean, float(waited.mean()), error)
