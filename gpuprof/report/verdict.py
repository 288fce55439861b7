"""The verdict: one sentence on where the time went, one on what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof import units
from gpuprof.analyses.result import Results
from gpuprof.analyses.time_budget import TimeBudget
from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Finding, Severity

_PHRASES = {
    "exposed_copy": "copying with nothing else running",
    "exposed_collective": "in collectives that nothing hides",
    "memset": "clearing memory",
    "idle_input": "waiting for data",
    "idle_host": "waiting for the host",
    "idle_sync": "idle around synchronisation",
    "idle_launch": "waiting for launches to arrive",
    "idle_outside_steps": "idle outside the steps",
    "idle_unexplained": "idle for a reason the trace does not show",
    "operators": "in operators",
    "input_wait": "waiting for the DataLoader",
    "host_other": "in Python and other host work",
    "outside_steps": "outside the steps",
}
_WORTH_SAYING = 0.05
_WORTH_EXPLAINING = 0.20
_WORK = {"compute", "operators"}


@dataclass(frozen=True)
class Verdict:
    """`headline` says where the time went, `advice` what to do; each is one plain sentence."""

    headline: str
    advice: str

    def __str__(self) -> str:
        return f"{self.headline} {self.advice}"

    @classmethod
    def of(cls, trace: Trace, results: Results, findings: tuple[Finding, ...]) -> Self:
        """Put it in words."""
        budget = results.get(TimeBudget)
        return cls(_headline(trace, budget), _advice(trace, budget, findings))


def _headline(trace: Trace, budget: TimeBudget) -> str:
    whole = sum(entry.ns for entry in budget.entries)
    if not budget.entries or whole <= 0:
        return (
            "Nothing was recorded in this run."
            if not trace.span_ns
            else "The recording holds no host activity to judge."
        )
    others = sorted((e for e in budget.entries if e.category != "compute"), key=lambda e: -e.ns)
    named = [f"{units.percent(e.share)} {_PHRASES[e.category]}" for e in others if e.share >= _WORTH_SAYING][:3]
    span = units.duration(whole)
    if budget.device is None:
        known = "Device activity was not captured." if trace.device_recorded is False else "No GPU in this run."
        rest = f"spends {_list(named)}" if named else "shows nothing that stands out"
        return f"{known} Of the recorded {span} the main thread {rest}."
    computing = sum(e.share for e in budget.entries if e.category == "compute")
    if not computing:
        doing = f"it spends {_list(named)}" if named else "it is almost always idle"
        return f"The device runs no kernel in the recorded {span}: {doing}."
    rest = f" and spends {_list(named)}" if named else ""
    return f"The device computes for {units.percent(computing)} of the recorded {span}{rest}."


def _advice(trace: Trace, budget: TimeBudget, findings: tuple[Finding, ...]) -> str:
    outcome = trace.context.outcome
    prefix = (
        f"The cell raised {outcome.error}; this is what was recorded until then. " if outcome and outcome.error else ""
    )
    worth = [finding for finding in findings if finding.severity > Severity.LOW]
    lost = max((e for e in budget.entries if e.category not in _WORK), key=lambda e: e.ns, default=None)
    unexplained = lost is not None and lost.share >= _WORTH_EXPLAINING
    if unexplained and not worth:
        return prefix + "No pattern that gpuprof knows explains it; the timeline shows what happened meanwhile."
    if not findings:
        return prefix + "Nothing worth changing was found."
    if not worth:
        return prefix + f"Nothing pressing; {units.plural(len(findings), 'minor point')} below."
    gain = _gain(worth[0])
    title = worth[0].title.rstrip(".")
    if len(worth) == 1:
        return prefix + f"Worth changing: {title}{gain}."
    return prefix + f"{len(worth)} things are worth changing. First: {title}{gain}."


def _gain(finding: Finding) -> str:
    saving = finding.saving
    if saving is None or saving.share <= 0:
        return ""
    reach = "up to" if saving.basis.startswith("upper bound") else "about"
    return f" ({reach} {units.percent(saving.share)} of the time)"


def _list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
