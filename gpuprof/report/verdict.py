"""The verdict: one sentence on where the time went, one on what can be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from gpuprof import units
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.phases import INPUT, OPTIMIZER
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.run.plain_budget import PlainBudget
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.trace import Trace
from gpuprof.report.efficiency_facts import used_well
from gpuprof.report.gate import Gate
from gpuprof.report.joint import Joint
from gpuprof.report.largest_shares import elsewhere, goes_to, minor_only, no_finding_explains
from gpuprof.report.saving_words import measure_words, shown
from gpuprof.rules.base.finding import Finding, Severity

_PHRASES = {
    "exposed_copy": "copying with nothing else running",
    "exposed_collective": "in collectives that nothing hides",
    "memset": "clearing memory",
    "idle_input": "waiting for data",
    "idle_host": "waiting for the host",
    "idle_sync": "idle around synchronisation",
    "idle_launch": "waiting for launches to arrive",
    "idle_compile": "waiting for torch.compile",
    "idle_outside_steps": "idle outside the steps",
    "idle_unexplained": "idle for a reason the trace does not show",
    "operators": "in operators",
    "input_wait": "waiting for the DataLoader",
    "compiling": "compiling (torch.compile)",
    "host_other": "in Python and other host work",
    "outside_steps": "outside the steps",
}
_NOT_STEADY = {KindOfRun.CAPTURE: "CUDA graphs are captured here, so this is no steady state. "}
_WORTH_SAYING = 0.05
_WORTH_EXPLAINING = 0.20
_MUCH_LARGER = 2.0
_OF_A_STEP = (Phase.DATA, Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER, Phase.TRAINING)
_UNSAID = (*_OF_A_STEP, Phase.OTHER)
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
        return cls(_headline(trace, results), _advice(trace, results, gate), gate.sentence())


def _headline(trace: Trace, results: Results) -> str:
    budget = results.get(TimeBudget)
    if trace.source.kind == "snapshot":
        return _memory_headline(results)
    if not budget.entries or budget.total_ns <= 0:
        if (error := _raised_at_once(trace)) is not None:
            return f"The cell raised {error} before any torch operator ran."
        return "Nothing was recorded in this run." if not trace.span_ns else "The recording holds no activity to judge."
    told = _Told.of(budget, results)
    kind = _NOT_STEADY.get(results.get(RunKind).kind, "")
    spends = f"spends {_list(told.named)}" if told.named else "shows nothing that stands out"
    if budget.device is None and _without_torch(trace):
        # torch records this thread alone, and those of autograd that go on for it
        return f"No torch operator ran on the cell’s own thread in {told.whole}."
    if budget.device is None:
        known = "" if trace.device_recorded is False else "No GPU in this run. "
        if trace.source.unread is not None:
            known = f"This trace has work of an accelerator ({trace.source.unread}) that gpuprof does not read. "
        return f"{kind}{known}Of {told.whole} the main thread {spends}{told.rest}."
    if not told.computing:
        doing = f"it {spends}" if told.named else "it is almost always idle"
        return f"{kind}The device runs no kernel in {told.whole}: {doing}{told.rest}."
    others = f" and {spends}" if told.named else ""
    return f"{kind}The device computes for {units.percent(told.computing)} of {told.whole}{others}{told.rest}."


def _memory_headline(results: Results) -> str:
    memory = results.get(MemoryPeak).primary
    if memory is None or memory.peak_allocated_bytes is None:
        return "This memory snapshot holds no history of allocations."
    reserved = memory.peak_reserved_bytes
    held = f" and {units.size(reserved)} reserved" if reserved else ""
    return f"In this memory snapshot at most {units.size(memory.peak_allocated_bytes)} are allocated{held}."


@dataclass(frozen=True)
class _Told:
    """What the headline speaks of: an iteration without the recording where such are known, else the whole recording,
    or its steps where much of it lies outside them."""

    whole: str
    computing: float
    named: tuple[str, ...]
    rest: str

    @classmethod
    def of(cls, budget: TimeBudget, results: Results) -> _Told:
        steps, plain = results.get(StepTime), results.get(PlainBudget)
        outside = max((e.share for e in budget.entries if e.category.endswith("outside_steps")), default=0.0)
        whole, rest = f"the recorded {units.duration(budget.total_ns)}", ""
        ns = {entry.category: entry.ns for entry in budget.entries}
        if steps.count > 1 and outside >= _WORTH_SAYING:
            ns = {name: intervals.intersect(part, steps.window).total_ns for name, part in budget.parts.items()}
            whole = f"the {steps.count} steps’ {units.duration(sum(ns.values()))}"
            idle = "" if budget.device is None else "idle "
            rest = f"; {units.percent(outside)} of the recording is {idle}time outside the steps"
        rest = _beside_training(results.get(CellPhases)) or rest
        total = sum(ns.values()) or 1
        shares: Mapping[str, float] = {name: part / total for name, part in ns.items()}
        if plain.total_ns is not None:
            whole, shares = (
                f"an average iteration’s {units.duration(plain.total_ns)} without the recording",
                plain.shares,
            )
        others = sorted(((name, share) for name, share in shares.items() if name != "compute"), key=lambda o: -o[1])
        named = [f"{units.percent(share)} {_PHRASES[name]}" for name, share in others if share >= _WORTH_SAYING]
        return cls(whole, shares.get("compute", 0.0), tuple(named[:3]), rest)


def _beside_training(cell: CellPhases) -> str:
    """What the cell spends outside its training steps: set-up, evaluation, checkpoints; where that was sampled."""
    if not cell.sampled or not cell.share(*_OF_A_STEP):
        return ""
    others = [each for each in cell.phases if each.phase not in _UNSAID and each.share >= _WORTH_SAYING]
    told = _list(tuple(f"{units.percent(each.share)} is {each.phase.value}" for each in others)) if others else ""
    return f"; of the whole cell {told}" if told else ""


def _raised(trace: Trace) -> str:
    outcome = trace.context.outcome
    return (
        f"The cell raised {outcome.error}; this is what was recorded until then. " if outcome and outcome.error else ""
    )


def _advice(trace: Trace, results: Results, gate: Gate) -> str:
    budget, findings, prefix = results.get(TimeBudget), gate.findings, _raised(trace)
    if _raised_at_once(trace) is not None:
        return "There is nothing to judge."
    if not budget.entries and trace.source.kind != "snapshot":
        return prefix + _why_nothing(trace)
    worth = tuple(finding for finding in findings if finding.severity > Severity.LOW)
    lost = max((e for e in budget.entries if e.category not in _WORK), key=lambda e: e.ns, default=None)
    unexplained = lost is not None and lost.share >= _WORTH_EXPLAINING
    if unexplained and not findings and _without_torch(trace):
        return prefix + "There is nothing of torch’s to judge."
    if not findings and trace.source.unread is not None:
        return f"{prefix}What it did is unknown, so the run cannot be judged; the figures are the CPU’s alone."
    if not findings and not gate.doubts and (earned := used_well(results)):
        return f"{prefix}{earned} {goes_to(results)}".strip()
    if not findings:
        judged = " in what can be judged" if gate.doubts else ""
        return prefix + (no_finding_explains(results) or f"No rule applies{judged}. {goes_to(results)}".strip())
    if not worth:
        return prefix + minor_only(results, findings)
    gain = _gain(trace, results, worth[0], 1 + findings.index(worth[0]))
    title = worth[0].title.rstrip(".")
    share, words = elsewhere(results, worth)
    first = f"No finding explains a large share of the time: {words}. " if _leads(results, worth, share) else ""
    besides = f" Besides that: {words}." if words and not first else ""
    if len(worth) == 1:
        return f"{prefix}{first}Worth changing: {title}{gain}.{besides}"
    joint = Joint.of(results, worth)
    together = f" {joint}." if joint else ""
    return f"{prefix}{first}{len(worth)} things are worth changing. First: {title}{gain}.{together}{besides}"


def _leads(results: Results, worth: tuple[Finding, ...], share: float) -> bool:
    """Whether an unexplained share of the time is so much larger than what the findings save that it comes first."""
    savings = [shown(results, each) for each in worth]
    if any(each is None for each in savings):  # a finding about memory saves no time
        return False
    return share > _MUCH_LARGER * max((each.share for each in savings if each is not None), default=share)


def _raised_at_once(trace: Trace) -> str | None:
    """What the cell raised before anything of torch's was recorded; None where it did not."""
    outcome = trace.context.outcome
    return outcome.error if outcome and not trace.span_ns and trace.source.kernels_saved else None


def _without_torch(trace: Trace) -> bool:
    inside = trace.operators["start_ns"] >= trace.span_start_ns
    waits = trace.name_mask(trace.user_ranges, INPUT, OPTIMIZER)
    return not (inside.any() or waits.any() or len(trace.device_events) or len(trace.calls))


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
    return f" (saving about {units.percent(told.share)} of {saving.whole}{more})"


def _list(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
