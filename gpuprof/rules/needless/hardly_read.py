"""Only a small part of what is computed is read.

What it finds
    In the close look, operators of whose results at most half of the elements are needed by anything that follows, and
    that take 5% of the operators' time or more for the others: logits of all positions of which only the last one is
    used, a product of all pairs for its diagonal, rows that a mask or an index drops. What is needed is followed back
    through element-wise and row-wise operators, reductions, and matrix products.

Why it costs
    The elements that nobody reads cost as much as the others, in a training step three times: their gradients are zeros
    that the backward pass multiplies all the same.

What to do
    Take the part before the expensive operator, not behind it: `head(hidden[:, -1])` instead of
    `head(hidden)[:, -1]`. The diagonal of a product is `(a * b).sum(-1)`.

When to leave it
    When the part that is used is known only after the whole is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.unread_work import Unread
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.unread import amount, at, elements, evidence, unread_unknown, weighed
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class HardlyRead(Rule):
    """See the module."""

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what is hardly read."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = amount(results, Unread.PARTS)
        if found is None or found.share < self.work_share:
            return None
        first = found.places[0]
        where = at(results, first.place)
        taken = f" {at(results, first.taken_at).capitalize()} takes them." if first.taken_at >= 0 else ""
        before = f" what {at(results, first.taken_at)} takes" if first.taken_at >= 0 else " the part that is used"
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"Most of what {where} computes is never read",
            explanation=(
                f"Of the result of `{first.operator.rpartition('::')[2]}` at {where}, {elements(first)} are read."
                f"{taken} The rest takes {units.percent(found.share)} of the operators’ time in the look"
                f"{_backward(found.backward_share)}."
            ),
            evidence={**evidence(results, found), "backward_share": round(found.backward_share, 4)},
            change=f"Select{before} before the computation at {where}, not after it: `head(hidden[:, -1])` instead of "
            "`head(hidden)[:, -1]`; for the diagonal of a product `(a * b).sum(-1)`.",
        )
        return weighed(results, finding, found)


def _backward(share: float) -> str:
    return f", {units.percent(share)} of it in backward passes" if share >= 0.01 else ""
