"""What the recorded time outside the steps is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.trace import Trace

_CATEGORIES = ("outside_steps", "idle_outside_steps")
# samples by which a share is worth telling
_FEWEST = 5


@dataclass(frozen=True)
class OutsideSteps(Result):
    """`phases` of what the budget has outside the steps (on a device, of its idle time there), each with its share of
    it (0..1), the largest first; empty where too little of it was sampled.
    """

    phases: tuple[tuple[Phase, float], ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the stacks."""
        parts, stretches = results.get(TimeBudget).parts, results.get(Stretches)
        within = next((parts[name] for name in _CATEGORIES if name in parts and parts[name].total_ns), None)
        if within is None or not len(stretches.node):
            return cls(())
        start = stretches.start_ns + (trace.context.sampling.get("clock_offset_ns") or 0)
        spent = intervals.covered(within, start, start + stretches.duration_ns)
        if int((spent > 0).sum()) < _FEWEST:
            return cls(())
        shares = np.bincount(results.get(SamplePhases).phase, weights=spent, minlength=len(PHASES)) / spent.sum()
        found = [(phase, share) for phase, share in zip(PHASES, shares.tolist(), strict=True) if share > 0]
        return cls(tuple(sorted(found, key=lambda each: -each[1])))
