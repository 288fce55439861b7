"""Operators work on subnormal numbers, which many processors compute with many times slower.

What it finds
    In the close look, operators on the CPU that read numbers so near to zero that they have no usual form: in float32
    below 1.2e-38, such as traces, filters, momenta and softmax tails that decay. They take 10% of the operators’ time
    or more, and either the same operators took much less without such numbers, or this processor took twice as long as
    usual, or more, for a product of such numbers, which the look has timed.

Why it costs
    Many x86 processors hand each subnormal number to microcode: 10 to 100 times as long. Others, among them recent ones
    of AMD, are as fast as usual.

What to do
    `torch.set_flush_denormal(True)` before the work begins. Such numbers become zero. It holds for the thread that
    calls it and for threads that start later: call it before the first large operator of the notebook where
    `torch.get_num_threads()` is more than 1.

When to leave it
    When results depend on numbers below 1.2e-38 (2.2e-308 in float64), such as products of many probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.efficiency.subnormal_operands import SubnormalOperands
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.needless.worth import valued
from gpuprof.rules.saving.scope import graded

_MOST_PLACES = 3


@dataclass(frozen=True)
class SubnormalNumbers(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    work_share: float = threshold(0.10, "of the operators’ time: less is not worth a change")
    medium_share: float = threshold(0.30, "of the operators’ time, where what it saves is not known: then measure it")
    slowdown_factor: float = threshold(2.0, "of this processor for such numbers: with less nothing is gained")
    compared_part: float = threshold(0.5, "of the time can be compared: then that says what is saved")
    saved_share: float = threshold(0.05, "of the operators’ time, as compared: less is not worth a change")
    saved_part: float = threshold(0.3, "of the time of what is compared: less may be chance")
    high_share: float = threshold(0.30, "of the operators’ time saved: then fix it first")
    low_share: float = threshold(0.10, "of the operators’ time saved: less matters little")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time of operators that read such numbers."""
        lacking = without_look(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = results.get(SubnormalOperands)
        if not found.operands or found.share < self.work_share:
            return None
        if found.compared_share < self.compared_part * found.share:
            if found.slowdown is None or found.slowdown < self.slowdown_factor:
                return None
            severity = Severity.LOW if found.share < self.medium_share else Severity.MEDIUM
            more = "How much of it goes away depends on the operators: measure it."
            return self._finding(results, found, severity, more)
        if found.saved_share < max(self.saved_share, self.saved_part * found.compared_share):
            return None
        severity = graded(found.saved_share, self.high_share, self.low_share)
        faster = f"{units.percent(found.saved_share / found.compared_share)} less"
        finding = self._finding(results, found, severity, f"Where the same operators read none, they took {faster}.")
        rows = [each.rows for each in found.operands if each.saved_ns is not None]
        among = np.ones(found.operators, bool)
        return valued(results, finding, found.saved_share, rows, among, part=found.saved_part)

    def _finding(self, results: Results, found: SubnormalOperands, severity: Severity, more: str) -> Finding:
        first, places = found.operands[0], [each.place for each in found.operands if each.place >= 0]
        where, slowdown = line_words(results.get(LookedLines).line(first.place)), found.slowdown or 0.0
        slow = slowdown >= self.slowdown_factor
        timed = f"This processor multiplied them {slowdown:.0f} times slower than normal numbers. " if slow else ""
        limit = "2.2e-308" if first.double else "1.2e-38"
        return Finding(
            rule=self.name,
            severity=severity,
            title=f"Operators on subnormal numbers take {units.percent(found.share)} of the operators’ time",
            explanation=(
                f"In the close look, `{first.operator}` at {where} reads tensors of which "
                f"{units.percent(first.numbers_share)} are subnormal: not zero, but closer to zero than {limit}. "
                f"{timed}{more}"
            ),
            evidence={
                "subnormal_share": round(found.share, 4),
                "numbers_share": round(first.numbers_share, 4),
                "operator": first.operator,
                **({"times_slower": round(slowdown)} if slow else {}),
                **({"saved_share": round(found.saved_share, 4)} if found.compared_share else {}),
            },
            where=Where(lines=cell_lines(results, list(dict.fromkeys(places))[:_MOST_PLACES])),
            change=(
                "Call `torch.set_flush_denormal(True)` at the top of the cell: numbers below 1.2e-38 (2.2e-308 in "
                "float64) become zero."
            ),
            diff=cell_diff(results, _edit),
        )


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.loops.switches import flush_subnormals

    return flush_subnormals(source)
