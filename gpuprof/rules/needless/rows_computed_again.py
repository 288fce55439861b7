"""Results of the same rows are computed again each time the rows are taken.

What it finds
    In the close look, rows that are taken of one tensor by their numbers (`x[idx]`), and operators that compute each of
    these rows for itself, without gradients and with weights that do not change: layers of a network without dropout,
    element-wise functions. Either more rows were taken than the tensor has, half as many again or more, as for a
    bootstrap. Or a training loop goes over the rows while its optimizer leaves these weights as they are, as those of a
    frozen backbone or of a teacher: that is low, as the look cannot know the iterations that it did not see. What is
    computed anew takes 5% of the operators’ time or more. Slices of a tensor (`x[a:b]`) count in training loops.
    Or rows are taken by their numbers and multiplied with a matrix, and twice as many or more are taken as the tensor
    has: of the nodes of a graph for each of its edges. That is so with gradients, too.

Why it costs
    A row gives the same result each time, whatever other rows are in the batch. All passes after the first compute what
    is known.

What to do
    Compute the results of all rows once, before the loop and in batches, under `torch.no_grad()`, and take rows of the
    results: `out[idx]` instead of `f(x[idx])`. What is multiplied as soon as it is taken needs no loop: `layer(x)[idx]`
    instead of `layer(x[idx])`.

When to leave it
    When the weights or the rows change in other iterations, when samples are augmented at random before, or when the
    results of all rows do not fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.rows.gathered_products import GatheredProducts
from gpuprof.analyses.rows.rows_again import RowsAgain
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, without_look
from gpuprof.rules.needless.unread import at
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded

_MOST_PLACES = 3


@dataclass(frozen=True)
class RowsComputedAgain(Rule):
    """See the module."""

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth keeping results")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    fewest_passes: float = threshold(1.5, "over the rows: with fewer, computing all of them first hardly wins")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the tensor whose rows take most."""
        lacking = without_look(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        answers = [each for each in (self._again(results), self._multiplied(results)) if each is not None]
        return max(answers, key=lambda each: float(each.evidence["operator_share"]), default=None)

    def _multiplied(self, results: Results) -> Finding | None:
        """Rows that are multiplied right after they were taken, more often than there are."""
        found = results.get(GatheredProducts)
        if found.place < 0 or found.share < self.work_share:
            return None
        taken, where = at(results, found.taken_at), at(results, found.place)
        times = found.taken_rows / found.source_rows
        head = f"{taken[0].upper()}{taken[1:]} takes {units.count(found.taken_rows)} rows of a tensor with"
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"The same rows are multiplied again: {units.percent(found.share)} of the operators’ time",
            explanation=(
                f"{head} {units.count(found.source_rows)} rows, and {where} multiplies all of them with one matrix, "
                f"{units.plural(found.products, 'time')} in the close look. Each row is multiplied {times:.0f} times "
                f"on average, with the same result: {units.percent(found.part)} of this work, backward passes included."
            ),
            evidence={
                "source_rows": found.source_rows,
                "taken_rows": found.taken_rows,
                "operator_share": round(found.share, 4),
                "operators": len(found.rows),
            },
            where=Where(lines=cell_lines(results, (found.taken_at, found.place))),
            change=f"Multiply first, and take rows of the result: at {where}, `layer(x)[idx]` in place of "
            "`layer(x[idx])`, with `index_select` as well. Results differ by rounding.",
            leave_it="Leave it when the layer has dropout, or anything else that differs from row to row, before the "
            "product.",
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, found.share, [found.rows], among, part=found.part)

    def _again(self, results: Results) -> Finding | None:
        found = results.get(RowsAgain)
        if found.place < 0 or found.share < self.work_share or found.passes < self.fewest_passes:
            return None
        kept = at(results, found.kept_at)
        finding = Finding(
            rule=self.name,
            severity=Severity.LOW if found.frozen else graded(found.share, self.high_share, self.low_share),
            title=f"The same rows are computed again: {units.percent(found.share)} of the operators’ time",
            explanation=_explained(results, found),
            evidence={
                "source_rows": found.source_rows,
                "taken_rows": found.taken_rows,
                "passes": round(found.passes, 1),
                "operator_share": round(found.share, 4),
                "operators": len(found.rows),
                "result_bytes": found.result_bytes,
            },
            where=Where(lines=cell_lines(results, (found.taken_at, *found.places[:_MOST_PLACES], found.kept_at))),
            change=f"Compute the result of {kept} once for all {units.count(found.source_rows)} rows "
            f"({units.size(found.result_bytes)}), before the loop and in batches, under `torch.no_grad()`. Then take "
            "rows of that: `out[idx]` instead of `f(x[idx])`.",
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, found.share, [found.rows], among, part=found.part)


def _explained(results: Results, found: RowsAgain) -> str:
    taken, most = at(results, found.taken_at), at(results, found.place)
    often = f"{units.plural(found.gathers, 'time')} in the close look"
    head = (
        f"{taken[0].upper()}{taken[1:]} takes rows of a tensor with {units.count(found.source_rows)} rows, {often}. "
        f"Operators at {most} compute each row for itself, without gradients, from weights and constants that do not "
        "change."
    )
    if found.frozen:
        return (
            f"{head} If that holds for all iterations of the cell, and "
            f"they take rows of the same tensor, they go over it {found.passes:.1f} times, and "
            f"{units.percent(found.part)} of this work is done again."
        )
    return (
        f"{head} {units.count(found.taken_rows)} rows were computed there, so {units.percent(found.part)} of this work "
        "is done again."
    )
