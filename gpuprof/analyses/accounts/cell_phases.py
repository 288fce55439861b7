"""How the time of the whole cell divides into phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.host_marks import autograd_threads
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class PhaseTime:
    """`ns` of a phase, `share` of the whole (0..1), `error`: the standard error of that share where it was sampled."""

    phase: Phase
    ns: int
    share: float
    error: float | None


@dataclass(frozen=True)
class CellPhases(Result):
    """`phases`, the longest first; they add up to `total_ns`. Of the whole cell where its stack was sampled
    (`sampled`), else of the recorded span, as far as its ranges tell. `unplaced_share`: of the sampled time, that with
    neither a phase nor a line; None where nothing was sampled.
    """

    phases: tuple[PhaseTime, ...]
    total_ns: int
    sampled: bool
    unplaced_share: float | None

    def share(self, *phases: Phase) -> float:
        """Of these phases together, 0..1."""
        return sum(each.share for each in self.phases if each.phase in phases)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sampled stacks, else from the recorded ranges."""
        stretches = results.get(Stretches)
        total_ns = stretches.total_ns
        if not total_ns:
            return cls(*_recorded(trace, results), False, None)
        phase, spent_ns = results.get(SamplePhases).phase, stretches.spent_ns
        spent = np.bincount(phase, weights=spent_ns, minlength=len(PHASES))
        exact = np.bincount(phase, weights=spent_ns * stretches.measured, minlength=len(PHASES))
        errors = stretches.error(spent / total_ns, exact / total_ns, trace)
        found = [
            PhaseTime(each, int(ns), float(ns / total_ns), float(error))
            for each, ns, error in zip(PHASES, spent, errors, strict=True)
            if ns
        ]
        node, lines = stretches.node, results.get(StackLines)
        placed = node >= 0
        placed[placed] = lines.line[node[placed]] > 0
        nowhere = (phase == PHASES.index(Phase.OTHER)) & ~placed
        return cls(
            tuple(sorted(found, key=lambda each: -each.ns)), total_ns, True, float(spent_ns[nowhere].sum() / total_ns)
        )


def _recorded(trace: Trace, results: Results) -> tuple[tuple[PhaseTime, ...], int]:
    """Input, optimizer and backward by their ranges, forward where other operators run, the rest is unknown."""
    total_ns = trace.span_ns
    if not total_ns:
        return (), 0
    at = results.get(Phases)
    parts = intervals.partition(
        intervals.single(trace.span_start_ns, trace.span_end_ns),
        [
            (Phase.DATA, at.input),
            (Phase.OPTIMIZER, at.optimizer),
            (Phase.BACKWARD, intervals.joined(at.backward, autograd_threads(trace))),
            (Phase.FORWARD, results.get(MainOperators).inside),
        ],
    )
    known = [(Phase.OTHER if name == "" else Phase(name), part.total_ns) for name, part in parts.items()]
    found = [PhaseTime(phase, ns, ns / total_ns, None) for phase, ns in known if ns]
    return tuple(sorted(found, key=lambda each: -each.ns)), total_ns
