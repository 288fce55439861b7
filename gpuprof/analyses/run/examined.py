"""How much of the time was examined, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.run.cell_coverage import CellCoverage, like_recorded
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Examined(Result):
    """Shares of the whole cell, 0..1.

    `recorded`: what was recorded operator by operator, and iterations like it; of the rest only sampled stacks are
    known. `looked`: the time that the operators of the close look stand for; None where nothing was looked at.
    `placed`: what has a phase or a line; None where no stack was sampled. `left`: the phases of the rest, with their
    shares of the cell, the largest first; they add up to 1 - `recorded` about, since one is sampled and one is timed.
    """

    recorded: float = 1.0
    looked: float | None = None
    placed: float | None = None
    left: tuple[tuple[Phase, float], ...] = ()

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the window, the iterations, the samples and the look."""
        unplaced, coverage = results.get(CellPhases).unplaced_share, results.get(CellCoverage)
        return cls(
            coverage.alike,
            _looked(trace, results),
            None if unplaced is None else 1 - unplaced,
            _left(trace, results) if coverage.alike < 1 else (),
        )


def _looked(trace: Trace, results: Results) -> float | None:
    looked = results.get(LookedTime)
    if not looked.known or not looked.total_ns:
        return None
    return min(float(looked.cell_ns.sum()) / looked.total_ns, 1.0)


def _left(trace: Trace, results: Results) -> tuple[tuple[Phase, float], ...]:
    stretches = results.get(Stretches)
    if not stretches.total_ns:
        return ()
    outside_ns = stretches.duration_ns - like_recorded(trace, results, stretches)
    spent = np.bincount(results.get(SamplePhases).phase, weights=np.maximum(outside_ns, 0), minlength=len(PHASES))
    found = [(phase, float(ns / stretches.total_ns)) for phase, ns in zip(PHASES, spent, strict=True) if ns > 0]
    return tuple(sorted(found, key=lambda each: -each[1]))
