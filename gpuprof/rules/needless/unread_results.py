"""Results are computed and nobody reads them.

What it finds
    In the close look, operators of forward passes, evaluations and other calculations whose results are freed or
    overwritten before anything reads them, or of which only such operators read, again and again: 5% of the operators'
    time or more. Without gradients, also results that only enter a sum in which they cancel or are multiplied by zero,
    such as `a + 1.0 * (b - a)`.

Why it costs
    Whoever leaves these operators out gets the same results sooner.

What to do
    Delete the calculation, or move it to where its result is used: a metric that is printed every hundred steps is
    computed every hundred steps. Where a factor makes a term cancel, compute that term only for other factors.

When to leave it
    When running is the point, as in a benchmark or a warm-up, something outside of torch reads the memory, or the
    factor of a term that cancels is another one in other iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.unread_work import Unread
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.unread import (
    Amount,
    all_at,
    all_for_nothing,
    amount,
    at,
    evidence,
    unread_unknown,
    weighed,
)
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class UnreadResults(Rule):
    """See the module."""

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
        unread, cancelled = (amount(results, kind) for kind in (Unread.RESULTS, Unread.CANCELLED))
        found = max((each for each in (unread, cancelled) if each), key=lambda each: each.share, default=None)
        if found is None or found.share < self.work_share or all_for_nothing(results, self.read_share):
            return None
        if found is cancelled:
            return self._cancelled(results, found)
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
        )
        return weighed(results, finding, found)

    def _cancelled(self, results: Results, found: Amount) -> Finding:
        first, where = found.places[0], at(results, found.places[0].taken_at)
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"A term at {where} cancels: {units.percent(found.share)} of the operators’ time computes it",
            explanation=(
                f"The sum at {where} does not depend on one of its terms: with the factor that it has in the "
                f"iterations looked at, the term cancels. {units.plural(first.operators, 'operator')} at "
                f"{at(results, first.place)} and others compute it, most time in "
                f"`{first.operator.rpartition('::')[2]}`."
            ),
            evidence=evidence(results, found),
            change=f"Compute that term only where the factor at {where} is another one, for instance "
            "`if scale != 1:` before an unconditional pass.",
        )
        return weighed(results, finding, found)
