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
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.run.cell_coverage import CellCoverage, like_recorded
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Examined(Result):
    """Shares of the whole cell, 0..1.

    `recorded`: what was recorded operator by operator, and iterations like it. `looked`: the time that the operators of
    the close look stand for; None where nothing was looked at. `placed`: what has a phase or a line; None where no
    stack was sampled. `left`: the phases of what is in none of these, neither recorded nor in a line that was looked
    at, with their shares of the cell, the largest first: of that only the lines are known.
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

    @property
    def left_share(self) -> float:
        """Of the cell, what nobody examined but by its lines; where no stack was sampled, what was not recorded."""
        return 1 - self.recorded if self.placed is None else sum(share for _, share in self.left)


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
    outside_ns[_in_looked_lines(trace, stretches.node)] = 0
    spent = np.bincount(results.get(SamplePhases).phase, weights=np.maximum(outside_ns, 0), minlength=len(PHASES))
    found = [(phase, float(ns / stretches.total_ns)) for phase, ns in zip(PHASES, spent, strict=True) if ns > 0]
    return tuple(sorted(found, key=lambda each: -each[1]))


def _in_looked_lines(trace: Trace, node: Array) -> Array:
    """Mask over nodes of the stacks: their innermost line of the user's is one whose operators the close look saw."""
    look, stacks = trace.context.look, trace.context.stacks
    # a look that ended within its first iteration has checked little
    if look is None or stacks is None or not look.operators_share:
        return np.zeros(len(node), bool)
    cell = trace.context.cell.filename if trace.context.cell else None
    looked = {("" if each.file in ("", cell) else each.file, each.line) for each in look.places}
    places, own = own_frames(trace, stacks)
    names = ["" if each.kind == "cell" else each.filename for each in stacks.files]
    seen = np.array([(names[file], line) in looked for file, line in places[:, :2].tolist()] + [False], bool)
    # row -1: no code of the user
    found: Array = seen[np.append(own, -1)[node]]
    return found
