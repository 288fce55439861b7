"""Iterations of one loop, however they were found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpuprof.model.table import Array

# fewer show neither a median nor a trend
FEWEST = 5


@dataclass(frozen=True, eq=False)
class IterationRun:
    """Iterations in order: `starts_ns` and `ends_ns`, int64 of shape `(count,)`, on the trace's clock.

    `how`: what they were found from, `ranges`, `lines` or `operators`. `line`: the loop's line (1-based) in `file`,
    None where it is not known; `file` is empty for the profiled cell.
    """

    how: str
    starts_ns: Array
    ends_ns: Array
    line: int | None = None
    file: str = field(default="")

    @property
    def count(self) -> int:
        """How many iterations there are."""
        return len(self.starts_ns)

    @property
    def durations_ns(self) -> Array:
        """How long each took, int64 of shape `(count,)`."""
        durations: Array = self.ends_ns - self.starts_ns
        return durations

    @property
    def total_ns(self) -> int:
        """The time in all of them."""
        return int(self.durations_ns.sum())

    @property
    def median_ns(self) -> int | None:
        """The median iteration; None where there is none."""
        return int(np.median(self.durations_ns)) if self.count else None

    @property
    def spread_ns(self) -> int | None:
        """From the 10th to the 90th percentile; None for fewer than FEWEST iterations."""
        if self.count < FEWEST:
            return None
        low, high = np.percentile(self.durations_ns, [10, 90])
        return int(high - low)
