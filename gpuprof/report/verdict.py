"""The verdict: one sentence on where the time went, one on what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof import units
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model.trace import Trace
from gpuprof.report.facts.efficiency import used_well
from gpuprof.report.gate import Gate
from gpuprof.report.headline import headline, raised_at_once, without_torch
from gpuprof.report.joint import Joint
from gpuprof.report.largest_shares import (
    elsewhere,
    explained_share,
    goes_to,
    minor_only,
    no_finding_explains,
    times_known,
)
from gpuprof.report.saving_words import gain_words, measure_words, shown
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import all_rules

_WORTH_EXPLAINING = 0.20
_MUCH_LARGER = 2.0
_NO_NEWS = 0.05
# after the first finding, by their titles
_NAMED_AFTER = 2
_WORK = {"compute", "operators"}


@dataclass(frozen=True)
class Verdict:
    """`headline` says where the time went, `advice` what to do; each is one plain sentence.

    `caution` stands above both: why the recording is doubtful; empty where it is sound. Where it cannot be judged,
    that is the headline itself.
    """

    headline: str
    advice: str
    caution: str = ""

    def __str__(self) -> str:
        return f"{self.caution} {self.headline} {self.advice}".strip()

    @classmethod
    def of(cls, trace: Trace, results: Results, gate: Gate) -> Self:
        """Put it in words."""
        if gate.cannot_judge:
            return cls(gate.doubts[0].sentence, _raised(trace) + " ".join(gate.remedies()))
        return cls(headline(trace, results), _advice(trace, results, gate), gate.sentence())


def _raised(trace: Trace) -> str:
    outcome = trace.context.outcome
    return (
        f"The cell raised {outcome.error}; this is what was recorded until then. " if outcome and outcome.error else ""
    )


def _advice(trace: Trace, results: Results, gate: Gate) -> str:
    budget, findings, prefix = results.get(TimeBudget), gate.findings, _raised(trace)
    if raised_at_once(trace) is not None:
        return "There is nothing to judge."
    if not budget.entries and trace.source.kind != "snapshot":
        return prefix + _why_nothing(trace)
    worth = tuple(finding for finding in findings if finding.severity > Severity.LOW)
    lost = max((e for e in budget.entries if e.category not in _WORK), key=lambda e: e.ns, default=None)
    unexplained = lost is not None and lost.share >= _WORTH_EXPLAINING
    if unexplained and not findings and without_torch(trace):
        return prefix + "There is nothing of torch’s to judge."
    if not findings and trace.source.unread is not None:
        return f"{prefix}What it did is unknown, so the run cannot be judged; the figures are the CPU’s alone."
    if not findings and not gate.doubts and (earned := used_well(results)):
        return f"{prefix}{earned} {goes_to(results)}".strip()
    if not findings:
        judged = " in what can be judged" if gate.doubts else ""
        said = no_finding_explains(results) or f"No rule applies{judged}. {goes_to(results)}".strip()
        return " ".join(filter(None, (prefix + said, _unasked(trace, gate))))
    if not worth:
        return prefix + minor_only(results, findings)
    gain = _gain(trace, results, worth[0], 1 + findings.index(worth[0]))
    title = worth[0].title.rstrip(".")
    share, words = elsewhere(results, worth)
    first = f"No finding explains a large share of the time: {words}. " if _leads(results, worth, share) else ""
    besides = f" {_besides(results, worth, share)}: {words}." if words and not first else ""
    joint = Joint.of(results, worth)
    besides = f"{_covered(results, worth, joint)}{besides}"
    if len(worth) == 1:
        return f"{prefix}{first}Worth changing: {title}{gain}.{besides}"
    together = f" {joint}." if joint else ""
    then = "; ".join(each.title.rstrip(".") for each in worth[1 : 1 + _NAMED_AFTER])
    things = f"{len(worth)} things are worth changing. First: {title}{gain}. Then: {then}."
    return f"{prefix}{first}{things}{together}{besides}"


def _besides(results: Results, worth: tuple[Finding, ...], share: float) -> str:
    """How to begin with that share, which is at lines that no finding names: their time may be saved all the same."""
    told = [each for each in (shown(results, each) for each in worth) if each is not None]
    saved = max((each.share for each in told), default=0.0)
    return "Besides that" if saved + share <= 1 else "Another large place, which partly overlaps"


def _covered(results: Results, worth: tuple[Finding, ...], joint: Joint | None) -> str:
    """Which share of the time these findings explain, no less than they save together; empty where they are about
    something else, as memory, or where the one finding's saving says about as much."""
    told = [each for each in (shown(results, each) for each in worth) if each is not None]
    share = max(explained_share(results, worth), joint.share if joint else 0.0)
    no_news = len(worth) == 1 and bool(told) and abs(share - told[0].share) < _NO_NEWS
    if not told or share <= 0 or no_news or not times_known(results, worth):
        return ""
    whole = "the cell" if results.get(CellPhases).sampled else "the recorded time"
    concerned = "It concerns work" if len(worth) == 1 else "They concern work"
    return f" {concerned} that takes {units.percent(share)} of {whole}."


def _unasked(trace: Trace, gate: Gate) -> str:
    """Of a trace from elsewhere, how many rules lack a signal; a recording's own gaps stand in the headline."""
    if trace.source.kind == "recording" or not gate.abstained:
        return ""
    return f"{units.count(len(gate.abstained))} of {len(all_rules())} rules need what this trace does not hold."


def _leads(results: Results, worth: tuple[Finding, ...], share: float) -> bool:
    """Whether an unexplained share of the time is so much larger than what the findings save that it comes first."""
    savings = [shown(results, each) for each in worth]
    if any(each is None for each in savings):  # a finding about memory saves no time
        return False
    return share > _MUCH_LARGER * max((each.share for each in savings if each is not None), default=share)


def _why_nothing(trace: Trace) -> str:
    reasons = (*trace.source.notes, *trace.context.notes)
    known = f" {reasons[-1][0].upper()}{reasons[-1][1:].rstrip('.')}." if reasons else ""
    return f"Nothing can be judged.{known}"


def _gain(trace: Trace, results: Results, finding: Finding, number: int) -> str:
    told, saving = shown(results, finding), finding.saving
    if told is None or saving is None or saving.share <= 0:
        return ""
    measure = measure_words(trace, results, finding, number)
    if not told.about:
        return f" (measure what it saves: {measure})"
    more = f"; measure it: {measure}" if measure else ""
    return f" ({gain_words(told)} of {saving.whole}{more})"
