"""Communication that no compute overlaps, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.ranks.exchanges import Exchanges
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.collectives import CollectiveKind
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class ExposedExchanges(Result):
    """`parts`: for each kind, the union of the times when it runs and the first device computes nothing, longest
    first. Two kinds that run at once overlap. Empty if no collectives ran on a device."""

    parts: tuple[tuple[CollectiveKind, Intervals], ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the budget and the kinds of the exchanges."""
        exposed, found = results.get(TimeBudget).parts.get("exposed_collective"), results.get(Exchanges)
        if exposed is None or found.on_host:
            return cls(())
        parts = []
        for kind in sorted({each.kind for each in found.each}):
            starts = np.array([each.start_ns for each in found.each if each.kind is kind], np.int64)
            lasted = np.array([each.duration_ns for each in found.each if each.kind is kind], np.int64)
            parts.append((kind, intervals.intersect(intervals.union(Intervals(starts, starts + lasted)), exposed)))
        return cls(tuple(sorted((each for each in parts if each[1].total_ns), key=lambda each: -each[1].total_ns)))
