"""What it saves to leave out operators of which the close look shows that they need not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart, backward_share, recorded_parts
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.named_cause import NamedShare, NamedWhole
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.parts_of_operators import parts_left_out

# other caches, and what keeping the results costs; of the recorded part alone other iterations, too
_AT_WORST, _AT_BEST = 0.7, 1.3
_AT_WORST_ELSEWHERE = 0.6
# of what is judged: operators may be a small part of what the cell does
_HIGH_SHARE, _LOW_SHARE = 0.15, 0.08
# what is rounded in a title may be a little less
_NEARLY_ALL = 0.95
_BY_LINES = "estimate: the same part of the sampled time of these lines as of their operators in the close look"
_BY_OPERATORS = "estimate: the same share of the operators as in the looked-at iterations; at best of all time"


def valued(
    results: Results,
    found: Finding,
    share: float,
    rows: Sequence[Array],
    among: Array,
    *,
    part: float = 1.0,
    behind: bool = False,
) -> Finding:
    """The finding with what it saves to leave out these rows of `looked_operators` (of those `among`, a mask).

    `share`: of their time, 0..1; `part`: which part of those rows is meant; `behind`: their derivatives go with them.
    On the CPU it is that part of the time that
    was sampled at their lines, in the whole cell; where nothing was sampled, that share of the recorded operators.
    Where a GPU has the work, host times are no weights: then it is by the recorded operators of the same names and
    lines, or not at all.
    """
    every = np.concatenate(list(rows))
    places = np.unique(results.get(LookedTime).place[every]).tolist()
    inside = intervals.intersect(results.get(LookedLines).during(places), Scope.of(results).within)
    found = replace(
        found,
        where=replace(found.where, ranges_ns=worst(inside)),
        during=inside if inside.total_ns else None,
        looked_rows=every,
    )
    if results.get(DeviceActivity).primary is not None:
        recorded = recorded_parts(results, every, among)
        return _on_device(results, found, [each._replace(part=each.part * part) for each in recorded])
    own_ns, lines_ns = cell_ns(results, every, among, behind=behind)
    saving: Saving | None
    if part * own_ns and lines_ns:
        looked = results.get(LookedTime)
        total_ns = looked.total_ns
        # also as they were reached through other calls
        everywhere_ns = float(looked.line_ns[[place for place in places if 0 <= place < len(looked.line_ns)]].sum())
        lines_share = min(max(lines_ns, everywhere_ns) / total_ns, 1.0)
        found = _in_the_cell(found, own_ns / total_ns, lines_share, share / part)
        saving = _by_lines(part * own_ns, lines_ns, total_ns)
        of_time = _AT_WORST * saving.share
    else:
        saving, of_time = _by_operators(results, found, share)
    if saving is None:
        return replace(found, severity=Severity.LOW, explanation=f"{found.explanation} {_UNKNOWN}")
    return replace(found, saving=saving, severity=min(found.severity, graded(of_time, _HIGH_SHARE, _LOW_SHARE)))


def cell_ns(results: Results, rows: Array, among: Array, *, behind: bool) -> tuple[float, float]:
    """The time of the cell that these rows of `looked_operators` stand for, with their derivatives where these go with
    them (`behind`), ns, and the sampled time of their lines; zeros where nothing was sampled."""
    looked = results.get(LookedTime)
    if not looked.known:
        return 0.0, 0.0
    own_ns, lines_ns = looked.of_rows(rows, among)
    if not behind:
        return own_ns, lines_ns
    share = backward_share(results, recorded_parts(results, rows, among))
    behind_ns = share * results.get(CellPhases).share(Phase.BACKWARD) * looked.total_ns
    most_ns = float(looked.total_ns)
    return min(own_ns + behind_ns, most_ns), min(lines_ns + behind_ns, most_ns)


def share_of_cell(results: Results, rows: Sequence[Array], among: Array, *, behind: bool = False) -> float | None:
    """Of a look that ended within an iteration: the share of the cell that these rows stand for, 0..1. None where
    lines were not sampled, or a GPU has the work: then a part says nothing of the whole."""
    look, looked = results.context.look, results.get(LookedTime)
    if look is None or look.skipped is not None or not look.places or not looked.known or not rows:
        return None
    if results.get(DeviceActivity).primary is not None:
        return None
    return cell_ns(results, np.concatenate(list(rows)), among, behind=behind)[0] / max(looked.total_ns, 1)


def _in_the_cell(found: Finding, own_share: float, lines_share: float, of_look: float) -> Finding:
    """The finding with what these operators and their lines take of the cell: a reader compares these shares with the
    saving, which is of the cell, too. What the look saw of them is another share, `of_look`, of a few iterations. A
    title that names a part of that names the same part of the cell."""
    own, lines = units.percent(own_share), units.percent(lines_share)
    named, title = NamedShare.of(found.title), found.title
    if named is not None:
        part = min(named.share / of_look, 1.0) if named.whole is NamedWhole.OPERATORS and of_look else 1.0
        part = part if part < _NEARLY_ALL else 1.0
        title = title.replace(named.text, f"about {units.percent(part * own_share)} of {NamedWhole.CELL.value}")
    title = title[:1].upper() + title[1:]
    taken = f"about {own} of the cell" + (f", their lines {lines}" if lines != own else "")
    return replace(found, title=title, explanation=f"{found.explanation} By samples, these operators take {taken}.")


def _by_lines(central_ns: float, lines_ns: float, total_ns: float) -> Saving:
    high_ns = max(min(_AT_BEST * central_ns, lines_ns), central_ns)
    return Saving(
        low_ns=_AT_WORST * central_ns,
        central_ns=central_ns,
        high_ns=high_ns,
        share=central_ns / total_ns,
        grade="C",
        basis=_BY_LINES,
        ceiling_share=min(lines_ns / total_ns, 1.0),
        of_cell=True,
    )


def _by_operators(results: Results, found: Finding, share: float) -> tuple[Saving | None, float]:
    """The saving with its share of the time judged."""
    scope = Scope.of(results)
    central = share * intervals.intersect(results.get(MainOperators).inside, scope.within).total_ns
    if not central:
        return None, 0.0
    saving = scope.saving(
        _AT_WORST_ELSEWHERE * central, central, share * scope.total_ns, _BY_OPERATORS, part_of=found.during
    )
    return saving, scope.share(central)


_UNKNOWN = "What leaving it out saves cannot be said: the recording does not show these operators."


def _on_device(results: Results, found: Finding, parts: Sequence[RecordedPart]) -> Finding:
    """By simulating the run without that part of their time on the host, and of the kernels that they launch."""
    if not parts:
        return replace(found, severity=Severity.LOW, explanation=f"{found.explanation} {_UNKNOWN}")
    edit = parts_left_out(results, parts)
    timed = retimed(results, found, edit, "simulated without these operators and what they launch")
    # the share that it was graded by is of the host's time
    return timed if timed.saving is not None else replace(timed, severity=Severity.LOW)
