"""What the validity gate makes of the findings: some are withheld, some count less, and the rest stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.doubt import Doubt, Evidence, Handling
from gpuprof.analyses.validity.validity import Validity
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import Judgement, best_first, rule

_MOST_NAMES = 3


@dataclass(frozen=True)
class Gate:
    """`findings` and `abstained`: what is left of a Judgement.

    `withheld`: findings that rest on spoiled evidence. `lowered`: names of the rules whose finding counts less.
    """

    validity: Validity
    findings: tuple[Finding, ...]
    abstained: tuple[Abstention, ...]
    withheld: tuple[Finding, ...] = ()
    lowered: tuple[str, ...] = ()

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Worst first; empty for a sound recording."""
        return self.validity.doubts

    @property
    def cannot_judge(self) -> bool:
        """Whether the recording has no verdict."""
        return self.validity.cannot_judge

    @classmethod
    def of(cls, results: Results, judgement: Judgement) -> Self:
        """Hold every finding against the doubts."""
        validity = results.get(Validity)
        kept, withheld, lowered = [], [], []
        for finding in judgement.findings:
            handling = validity.handling(_evidence(results, finding))
            if handling is Handling.WITHHELD:
                withheld.append(finding)
            elif handling is Handling.LOWERED and finding.severity > Severity.LOW:
                kept.append(replace(finding, severity=Severity(finding.severity - 1)))
                lowered.append(finding.rule)
            else:
                kept.append(finding)
        abstained = _abstained(validity, judgement.abstained)
        return cls(validity, best_first(kept), abstained, tuple(withheld), tuple(lowered))

    def sentence(self) -> str:
        """All doubts in plain words, with what to do about the first and what became of findings; empty for none."""
        if not self.doubts:
            return ""
        return " ".join((*(doubt.sentence for doubt in self.doubts), *self.remedies()))

    def remedies(self) -> tuple[str, ...]:
        """What to do about the first doubt, and what became of findings."""
        if not self.doubts:
            return ()
        said = [self.doubts[0].remedy]
        if self.withheld and not self.validity.nothing_holds:
            said.append(f"Withheld because of it: {_names(tuple(each.rule for each in self.withheld))}.")
        if self.lowered:
            said.append(f"Ranked lower because of it: {_names(self.lowered)}.")
        return tuple(said)


def _evidence(results: Results, finding: Finding) -> frozenset[Evidence]:
    """Without a device, what is called GPU times was measured on the CPU."""
    evidence = rule(finding.rule).rests_on
    if results.get(DeviceActivity).recorded is None and Evidence.GPU_TIMES in evidence:
        return evidence - {Evidence.GPU_TIMES} | {Evidence.CPU_TIMES}
    return evidence


def _abstained(validity: Validity, abstained: tuple[Abstention, ...]) -> tuple[Abstention, ...]:
    """Of a recording of which nothing holds, no rule says that it lacked this or that."""
    if not validity.nothing_holds:
        return abstained
    return tuple(Abstention(each.rule, "a whole recording", validity.doubts[0].remedy) for each in abstained)


def _names(rules: tuple[str, ...]) -> str:
    named = ", ".join(f"`{name}`" for name in rules[:_MOST_NAMES])
    rest = len(rules) - _MOST_NAMES
    return f"{named} and {units.plural(rest, 'other')}" if rest > 0 else named
