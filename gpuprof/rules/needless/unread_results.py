"""Results are computed and nobody reads them.

What it finds
    In the close look, operators of forward passes, evaluations and other calculations whose results are freed or
    overwritten before anything reads them, or of which only such operators read, again and again: 5% of the operators'
    time or more. What the text reads after the loop, such as a copy of the best weights, is left out.

Why it costs
    Whoever leaves these operators out gets the same results sooner.

What to do
    Delete the calculation, or move it to where its result is used: a metric that is printed every hundred steps is
    computed every hundred steps.

When to leave it
    When running is the point, as in a benchmark or a warm-up, or something outside of torch reads the memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.demand.unread_work import Unread, UnreadPlace
from gpuprof.analyses.loops.written_loops import sources_of
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.repeated_diff import lines_of
from gpuprof.rules.needless.unread import Amount, all_at, all_for_nothing, amount, evidence, unread_unknown, weighed
from gpuprof.rules.reads.read_later import reads_later
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class UnreadResults(Rule):
    """See the module."""

    guard = Guard.EXACT

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    read_share: float = threshold(0.10, "of the operators’ time is read by somebody: else running is the point")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what nobody reads."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = amount(results, Unread.RESULTS, but=lambda place: _is_read_later(results, place))
        if found is None or found.share < self.work_share or all_for_nothing(results, self.read_share):
            return None
        lines = all_at(results, found.lines)
        first = found.places[0]
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"Nobody reads what is computed at {lines}",
            explanation=(
                f"The results of {units.plural(first.operators, 'operator')} there, most time in "
                f"`{first.operator.rpartition('::')[2]}`, are freed or overwritten before anything reads them. They "
                f"take {units.percent(found.share)} of the operators’ time in the iterations looked at."
            ),
            evidence=evidence(results, found),
            change=f"Delete the calculation at {lines}, or compute it only in the iterations that use its result.",
            diff=_diff(results, found),
        )
        return weighed(results, finding, found)


def _is_read_later(results: Results, place: UnreadPlace) -> bool:
    """By the text, for one of the ways in which the line was reached."""
    looked, texts = results.get(LookedLines), dict(sources_of(results.context))
    paths = looked.path[list(place.rows)].tolist()
    for path in dict.fromkeys(paths):
        chain = looked.paths[path] if 0 <= path < len(looked.paths) else (place.place,)
        lines = [line for line in map(looked.line, chain) if line is not None]
        sources = [texts.get("" if line.in_cell else line.file) for line in lines]
        if reads_later(sources, [line.line for line in lines]):
            return True
    return False


def _diff(results: Results, found: Amount) -> str | None:
    lines = lines_of(results, np.array(found.places[0].rows, np.int64))
    return cell_diff(results, lambda source: _edit(source, lines))


def _edit(source: str, lines: list[int]) -> str | None:
    from gpuprof.code_edits.loops.seldom_needed import compute_after_loop, drop_unread

    edits = (edit(source, line) for line in lines for edit in (drop_unread, compute_after_loop))
    return next((after for after in edits if after is not None), None)
