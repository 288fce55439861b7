"""How much a finding matters: by what it saves of the whole cell, not of its recorded part."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.run.cell_coverage import CellCoverage
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.whatif.predict import MINOR_SHARE

# A change that cannot save a tenth of the cell is not the first thing to do.
_HIGH_SHARE = 0.10
# of a finding's time, in steps: then it holds for every step of the cell
_MOSTLY = 0.5


def severity_in_cell(results: Results, found: Finding, saving: Saving) -> Severity:
    """The finding's severity, lowered where the most that it can save is little of the cell.

    What lies in the steps, or in the iterations of a run without steps, holds for all iterations of the cell that are
    like the recorded ones; anything else, and everything where neither is known, for the recorded part alone. A saving
    of the cell is weighed already.
    """
    if saving.of_cell:
        return found.severity
    coverage = results.get(CellCoverage)
    share = saving.most_share * (coverage.alike if _in_steps(results, found, saving) else coverage.recorded)
    if coverage.alike >= 1.0 or not share:
        return found.severity
    if share < MINOR_SHARE:
        return Severity.LOW
    return min(found.severity, Severity.MEDIUM) if share < _HIGH_SHARE else found.severity


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
