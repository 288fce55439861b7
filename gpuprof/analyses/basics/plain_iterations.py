"""How long an iteration takes without the recording, and how much of it waits for data: by light hooks alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# fewer show no mean that would hold; its error tells how far it does
FEWEST = 5
# iterations with an evaluation, a checkpoint or a new epoch in them are not like the others
UNLIKE = 3.0


@dataclass(frozen=True)
class IterationTime:
    """Iterations of one kind, each as long as `median_ns` at the median and `mean_ns` on average.

    `wait_ns`: the mean wait for batches in one, 0 where none was waited for; `optimizer_ns`: the mean time in steps of
    optimizers. `error`: the standard error of `mean_ns`, as a share of it.
    """

    count: int
    median_ns: float
    mean_ns: float
    wait_ns: float
    optimizer_ns: float
    error: float

    @property
    def wait_share(self) -> float:
        """Of these iterations' time, 0..1."""
        return min(self.wait_ns / self.mean_ns, 1.0) if self.mean_ns else 0.0

    @property
    def rest_ns(self) -> float:
        """The mean time of one without its wait for batches and its optimizer."""
        return max(self.mean_ns - self.wait_ns - self.optimizer_ns, 0.0)


@dataclass(frozen=True)
class PlainIterations(Result):
    """The iterations of the cell outside the recording and in it; each None where fewer than FEWEST are known.

    Both leave out what took more than three times the median. Recorded ones also leave out the warm-up. `in_cell`: how
    many iterations the cell had in all, 0 where that is not known.
    """

    plain: IterationTime | None
    recorded: IterationTime | None
    in_cell: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From `iterations`, and the times of each loader's waits."""
        rows, window = trace.iterations, trace.context.window
        if not rows or window is None:
            return cls(None, None)
        number = np.arange(1, len(rows) + 1)
        skipped = window.first_step + int(trace.context.options.get("skip") or 0)
        inside = (number > skipped) & (number < window.first_step + window.steps_recorded)
        waits = waits_in_iterations(trace)
        return cls(_time(rows, waits, rows["plain"]), _time(rows, waits, inside & ~rows["plain"]), len(rows))

    @property
    def known(self) -> bool:
        """Whether both are known, and a recorded time can be told as one without the recording."""
        return self.plain is not None and self.recorded is not None

    @property
    def wait_factor(self) -> float:
        """By what a recorded wait for a batch has to be multiplied to be one without the recording; 1 if not known."""
        return self._factor("wait_ns")

    @property
    def optimizer_factor(self) -> float:
        """The same of the steps of optimizers."""
        return self._factor("optimizer_ns")

    @property
    def rest_factor(self) -> float:
        """The same of all else in an iteration."""
        return self._factor("rest_ns")

    def _factor(self, part: str) -> float:
        if self.plain is None or self.recorded is None:
            return 1.0
        recorded = float(getattr(self.recorded, part))
        return float(getattr(self.plain, part)) / recorded if recorded else 1.0

    @property
    def error(self) -> float:
        """The standard error of those factors, as a share of them; 0 where there are none."""
        if self.plain is None or self.recorded is None:
            return 0.0
        return float(np.hypot(self.plain.error, self.recorded.error))


def waits_in_iterations(trace: Trace) -> Array:
    """How long each of `iterations` waited for batches, ns: every wait counts where it began."""
    rows = trace.iterations
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
    like = lengths <= UNLIKE * np.median(lengths)
    lengths, waited = lengths[like], np.minimum(waited[like], lengths[like])
    mean = float(lengths.mean())
    error = float(lengths.std() / np.sqrt(len(lengths)) / mean) if mean else 0.0
    spent = np.maximum(rows["optimizer_ns"][chosen][like], 0)
    return IterationTime(
        len(lengths), float(np.median(lengths)), mean, float(waited.mean()), float(spent.mean()), error
    )
