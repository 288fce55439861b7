"""What a finding saves of the whole cell, not of its recorded part, and how much it matters by that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.run.cell_coverage import CellCoverage
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.whatif.predict import MINOR_SHARE

# A change that cannot save a tenth of the cell is not the first thing to do.
HIGH_SHARE = 0.10
# Of one that steps without the recording show. Those are known well enough to leave the small ones aside: see
# benchmarks/fused_optimizers.py.
_LOW_SHARE = 0.05
# of a finding's time, in steps: then it holds for every step of the cell
_MOSTLY = 0.5


def of_whole_cell(results: Results, found: Finding, saving: Saving) -> Saving:
    """A saving of the steps as one of the cell: what it saves of a step, for each step that the cell took.

    As it is where it lies outside the steps, or where a device was recorded (simulation answers for the recorded run).
    A recording holds a few steps and often all of the start, so that shares of it say little of the cell. Where no
    step ran without the recording, its share is that of the recorded time, for the part of the cell that is like it.
    """
    steps, iterations, cell_ns = results.get(StepTime), results.get(PlainIterations), results.get(Stretches).total_ns
    plain = iterations.plain
    on_device = results.get(DeviceActivity).recorded is not None
    if saving.of_cell or not saving.calibrated or on_device or not steps.count or not cell_ns:
        return saving
    if not saving.central_ns or not _in_steps(results, found, saving):
        return saving
    if plain is None:
        return _of_like_part(results, saving) if iterations.in_cell else saving
    if not plain.mean_ns:
        return saving
    steps_ns = plain.mean_ns * steps.count
    # the mean has pauses that the cell's own samples tell better
    phases = results.get(CellPhases)
    running = 1 - phases.share(Phase.SET_UP) if phases.sampled else 1.0
    whole_ns = min(plain.mean_ns * iterations.in_cell, running * cell_ns)
    if whole_ns <= 0:
        return saving
    of_cell = whole_ns / cell_ns
    low, central, high = (min(ns / steps_ns, 1.0) for ns in (saving.low_ns, saving.central_ns, saving.high_ns))
    ceiling = saving.ceiling_share * (saving.central_ns / saving.share) / steps_ns if saving.share else 1.0
    return replace(
        saving,
        low_ns=low * whole_ns,
        central_ns=central * whole_ns,
        high_ns=high * whole_ns,
        share=central * of_cell,
        ceiling_share=min(ceiling, 1.0) * of_cell,
        of_cell=True,
        per_step=1 / of_cell,
    )


def _of_like_part(results: Results, saving: Saving) -> Saving:
    alike = results.get(CellCoverage).alike
    if alike >= 1.0:
        return saving
    cause = saving.within.total_ns / results.span_ns if saving.within is not None and results.span_ns else 1.0
    ceiling = min(saving.ceiling_share, max(cause, saving.share))
    return replace(saving, share=saving.share * alike, ceiling_share=ceiling * alike, of_cell=True, per_step=1 / alike)


def severity_in_cell(results: Results, found: Finding, saving: Saving) -> Severity:
    """The finding's severity, lowered where the most that it can save is little of the cell.

    What lies in the steps, or in the iterations of a run without steps, holds for all iterations of the cell that are
    like the recorded ones; anything else, and everything where neither is known, for the recorded part alone. A saving
    that is of the cell by the samples of its lines is weighed already.
    """
    coverage, share = results.get(CellCoverage), saving.most_share
    if saving.of_cell and not saving.per_step:
        return found.severity
    if not saving.of_cell:
        share *= coverage.alike if _in_steps(results, found, saving) else coverage.recorded
    if not share or (not saving.of_cell and coverage.alike >= 1.0):
        return found.severity
    if share < MINOR_SHARE or (saving.per_step and saving.share < _LOW_SHARE):
        return Severity.LOW
    return min(found.severity, Severity.MEDIUM) if share < HIGH_SHARE else found.severity


def _in_steps(results: Results, found: Finding, saving: Saving) -> bool:
    steps = results.get(StepTime)
    named = saving.within
    if named is None and found.where.ranges_ns:
        named = Intervals(*np.array(found.where.ranges_ns, np.int64).reshape(-1, 2).T)
    main = results.get(Iterations).main
    if not steps.count and main is None:
        return False
    if named is None or not len(named.starts):
        return True
    within = intervals.union(named)
    inside = steps.window if steps.count or main is None else intervals.union(Intervals(main.starts_ns, main.ends_ns))
    return intervals.intersect(within, inside).total_ns >= _MOSTLY * within.total_ns
