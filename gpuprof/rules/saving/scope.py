"""What a rule's shares are shares of: the time of the steps, or of the whole recording where no steps are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Saving, Severity

MOST_RANGES = 5


@dataclass(frozen=True, eq=False)
class Scope:
    """`within`: the union judged, `total_ns` its length, `steps` their number (0: the whole recording is judged)."""

    within: Intervals
    total_ns: int
    steps: int
    span_ns: int

    @classmethod
    def of(cls, results: Results) -> Scope:
        """The steps if there are any, else the span."""
        steps = results.get(StepTime)
        within = steps.window if steps.count else intervals.single(results.span_start_ns, results.span_end_ns)
        return cls(within, within.total_ns, steps.count, results.span_ns)

    def share(self, ns: float) -> float:
        """Of the time judged, 0..1; 0 where that is empty."""
        return share_of(ns, self.total_ns)

    def inside(self, times: Array) -> Array:
        """Boolean mask of shape `(len(times),)`: which instants are judged."""
        return intervals.contains(self.within, times)

    @property
    def words(self) -> str:
        """`the steps' time` or `the recorded time`."""
        return "the steps’ time" if self.steps else "the recorded time"

    def saving(
        self,
        low_ns: float,
        central_ns: float,
        high_ns: float,
        basis: str,
        grade: str = "C",
        *,
        part_of: Intervals | None = None,
    ) -> Saving:
        """A saving with its share of the recorded span; each bound lies in 0..span and they are in order.

        `part_of`: the union of the time that it is saved of.
        """
        high = min(max(high_ns, 0.0), float(self.span_ns))
        central = min(max(central_ns, 0.0), high)
        low = min(max(low_ns, 0.0), central)
        return Saving(low, central, high, share_of(central, self.span_ns), grade, basis, within=part_of)


def share_of(part: float, whole: float) -> float:
    """The part as a share of the whole; 0 where that is empty."""
    return part / whole if whole else 0.0


def worst(ranges: Intervals) -> tuple[tuple[int, int], ...]:
    """The MOST_RANGES longest, in order of time."""
    lengths = ranges.ends - ranges.starts
    rows = np.sort(np.argsort(-lengths, kind="stable")[:MOST_RANGES])
    order = rows[np.argsort(ranges.starts[rows], kind="stable")]
    return tuple((int(ranges.starts[row]), int(ranges.ends[row])) for row in order)


def graded(share: float, high: float, low: float = 0.0) -> Severity:
    """HIGH from `high` on, LOW under `low`, MEDIUM between."""
    if share >= high:
        return Severity.HIGH
    return Severity.LOW if share < low else Severity.MEDIUM
