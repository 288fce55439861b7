"""What it saves to leave out operators of which the close look shows that they need not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart, recorded_parts
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.parts_of_operators import parts_left_out

# other iterations, other caches, and what keeping the results costs
_AT_WORST = 0.6
# of the steps' time: operators may be a small part of what the cell does
_HIGH_SHARE, _LOW_SHARE = 0.20, 0.05
_BASIS = "estimate: the same share of the operators as in the looked-at iterations; at best of all time"


def valued(
    results: Results,
    found: Finding,
    share: float,
    rows: Sequence[Array],
    among: Array,
    places: Sequence[int],
    *,
    part: float = 1.0,
) -> Finding:
    """The finding with what it saves to leave out these rows of `looked_operators` (of those `among`, a mask).

    `share`: of their time, 0..1; `part`: which part of those rows is meant. On the CPU it is that share of the recorded
    operators: what is recorded may be another part of the cell. Where a GPU has the work, host times are no weights:
    then it is by the recorded operators of the same names and lines, or not at all.
    """
    scope, during = Scope.of(results), results.get(LookedLines).during(places)
    inside = intervals.intersect(during, scope.within)
    known = inside if inside.total_ns else None
    found = replace(found, where=replace(found.where, ranges_ns=worst(inside)), during=known)
    if results.get(DeviceActivity).primary is not None:
        recorded = recorded_parts(results, np.concatenate(list(rows)), among)
        return _on_device(results, found, [each._replace(part=each.part * part) for each in recorded])
    central = share * intervals.intersect(results.get(MainOperators).inside, scope.within).total_ns
    if not central:
        return replace(found, severity=Severity.LOW, explanation=f"{found.explanation} {_UNKNOWN}")
    saving = scope.saving(_AT_WORST * central, central, share * scope.total_ns, _BASIS, part_of=known)
    of_the_time = graded(scope.share(central), _HIGH_SHARE, _LOW_SHARE)
    return replace(found, saving=saving, severity=min(found.severity, of_the_time))


_UNKNOWN = "What leaving it out saves cannot be said: the recording does not show these operators."


def _on_device(results: Results, found: Finding, parts: Sequence[RecordedPart]) -> Finding:
    """By re-timing the run without that part of their time on the host, and of the kernels that they launch."""
    if not parts:
        return replace(found, severity=Severity.LOW, explanation=f"{found.explanation} {_UNKNOWN}")
    edit = parts_left_out(results, parts)
    timed = retimed(results, found, edit, "re-timed without these operators and what they launch")
    # the share that it was graded by is of the host's time
    return timed if timed.saving is not None else replace(timed, severity=Severity.LOW)
