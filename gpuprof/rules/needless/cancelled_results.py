"""A factor of exactly 0 or 1 makes results irrelevant.

What it finds
    In the close look, operators whose results cannot change anything, because they are multiplied by exactly 0 or
    cancel through a factor of exactly 1, in each looked-at iteration: the unconditional pass of a guidance of scale 1
    (`u + 1.0 * (c - u)` is `c`), a loss with weight 0 together with its backward pass. They take 5% of the operators'
    time or more.

Why it costs
    torch computes what it is told to: a second pass through a model, an auxiliary loss, and its gradients, which are
    then all zeros.

What to do
    Compute it only where the factor asks for it: `if scale != 1:` or `if weight:` around the calculation. Rounding may
    change the last digits.

When to leave it
    When the factor has other values in other parts of the cell and all of them are to take equally long, or when the
    term is there to give every parameter a gradient, as for `DistributedDataParallel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.cancelled_work import CancelledPlace, CancelledWork
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.unread import all_at, at, unread_unknown
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class CancelledResults(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what is multiplied by 0 or cancels."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = results.get(CancelledWork).found
        share = sum(each.share for each in found)
        if not found or share < self.work_share:
            return None
        first = found[0]
        where = at(results, first.factor_at)
        places = (*(each.factor_at for each in found), *(each.cancelled_at for each in found))
        computing = tuple(place for each in found for place in each.places)
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=_title(first, where),
            explanation=_explained(results, first, share),
            evidence={
                "cancelled_share": round(share, 4),
                "factor": first.factor,
                "operators": sum(len(each.rows) for each in found),
            },
            where=Where(lines=cell_lines(results, (*places, *computing[:_MOST_PLACES]))),
            change=_change(first, where),
            diff=_diff(results, first),
        )
        part = sum(each.wasted_ns for each in found) / max(sum(each.rows_ns for each in found), 1)
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [each.rows for each in found], among, part=part)


_MOST_PLACES = 3


def _title(first: CancelledPlace, where: str) -> str:
    if first.factor:
        return f"A factor of 1 at {where} cancels what was computed for it"
    return f"What is computed for {where} is multiplied by 0"


def _explained(results: Results, first: CancelledPlace, share: float) -> str:
    where = at(results, first.factor_at)
    how = "multiplies by exactly 1, so that a part of the sum cancels" if first.factor else "multiplies by exactly 0"
    end = first.cancelled_at
    then = f": the result of {at(results, end)} does not depend on it" if end not in (-1, first.factor_at) else ""
    return (
        f"{where[0].upper()}{where[1:]} {how}{then}. {units.plural(len(first.rows), 'operator')} computed that part, "
        f"most time at {_lines(results, first.places)}, with {units.percent(share)} of the operators’ time in the "
        "iterations looked at."
    )


def _lines(results: Results, places: Sequence[int]) -> str:
    return all_at(results, places[:_MOST_PLACES]) or "lines that are not known"


def _change(first: CancelledPlace, where: str) -> str:
    test = "is not 1 (`if scale != 1:`)" if first.factor else "is not 0 (`if weight:`)"
    what = "the part of the sum that cancels" if first.factor else "that term"
    return f"Compute {what} only where the factor at {where} {test}. Rounding may change the last digits."


def _diff(results: Results, first: CancelledPlace) -> str | None:
    line = results.get(LookedLines).line(first.factor_at)
    if line is None or not line.in_cell or first.factor != 1:
        return None
    return cell_diff(results, lambda source: _edit(source, line.line))


def _edit(source: str, line: int) -> str | None:
    from gpuprof.code_edits.loops.cancelled_terms import only_with_factor

    return only_with_factor(source, line)
