"""Operators work on subnormal numbers, which many processors compute with many times slower.

What it finds
    In the close look, operators on the CPU that read numbers so near to zero that they have no usual form: in float32
    below 1.2e-38, such as traces, filters, momenta and softmax tails that decay. They take 10% of the operators’ time
    or more, and either the same operators took much less without such numbers, or this processor took twice as long as
    usual, or more, for a product of such numbers, which the look has timed. Numbers that decay get there later:
    variables of your code are looked at over the whole cell. Lines that read such a variable are found where they take
    15% of the cell or more and the processor is slow at such numbers.

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
from gpuprof.analyses.lines.subnormal_variables import SubnormalVariables
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded, worst

_MOST_PLACES, _MOST_NAMES = 3, 2
_CHANGE = (
    "Call `torch.set_flush_denormal(True)` at the top of the cell: numbers below 1.2e-38 (2.2e-308 in float64) become "
    "zero. Threads of torch that already run keep their setting: restart the kernel, so that no operator runs before."
)


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
    lines_share: float = threshold(0.15, "of the cell in lines that read such variables: less is not worth a change")
    lines_medium_share: float = threshold(
        0.30, "of the cell in such lines, where what it saves is not known: measure it"
    )
    looks_share: float = threshold(0.20, "of the looks at such a variable: seldom seen, it costs little")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time of operators that read such numbers, or else that of lines that do so later."""
        lacking = without_look(self.name, results, self.seen_share)
        found = None if lacking is not None else self._looked_at(results)
        return found or self._later(results) or lacking

    def _later(self, results: Results) -> Finding | None:
        """Judge the lines that read variables which held such numbers at some time of the cell."""
        reads = [each for each in results.get(SubnormalVariables).reads if each.looks_share >= self.looks_share]
        slow = [each for each in reads if each.times_slower >= self.slowdown_factor]
        if not slow or slow[0].share < self.lines_share:
            return None
        first = slow[0]
        names = " and ".join(f"`{each}`" for each in first.names[:_MOST_NAMES])
        within = f" in `{first.function}`" if first.function else ""
        return Finding(
            rule=self.name,
            severity=Severity.LOW if first.share < self.lines_medium_share else Severity.MEDIUM,
            title=f"Lines that read subnormal numbers take {units.percent(first.share)} of the cell",
            explanation=(
                f"{units.percent(first.looks_share)} of the looks at {names}{within} found subnormal numbers: not "
                f"zero, but closer to zero than {_limit(first.double)}. This processor multiplied them "
                f"{first.times_slower:.0f} times slower than normal numbers. How much goes away depends on the "
                "operators: measure it."
            ),
            evidence={
                "lines_share": round(first.share, 4),
                "looks_share": round(first.looks_share, 4),
                "times_slower": round(first.times_slower),
            },
            where=Where(lines=first.cell_lines, ranges_ns=worst(first.during)),
            during=first.during,
            change=_CHANGE,
            diff=cell_diff(results, _edit),
        )

    def _looked_at(self, results: Results) -> Finding | None:
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
        return Finding(
            rule=self.name,
            severity=severity,
            title=f"Operators on subnormal numbers take {units.percent(found.share)} of the operators’ time",
            explanation=(
                f"In the close look, `{first.operator}` at {where} reads tensors of which "
                f"{units.percent(first.numbers_share)} are subnormal: not zero, but closer to zero than "
                f"{_limit(first.double)}. {timed}{more}"
            ),
            evidence={
                "subnormal_share": round(found.share, 4),
                "numbers_share": round(first.numbers_share, 4),
                "operator": first.operator,
                **({"times_slower": round(slowdown)} if slow else {}),
                **({"saved_share": round(found.saved_share, 4)} if found.compared_share else {}),
            },
            where=Where(lines=cell_lines(results, list(dict.fromkeys(places))[:_MOST_PLACES])),
            change=_CHANGE,
            diff=cell_diff(results, _edit),
        )


def _limit(double: bool) -> str:
    return "2.2e-308" if double else "1.2e-38"


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.loops.switches import flush_subnormals

    return flush_subnormals(source)
