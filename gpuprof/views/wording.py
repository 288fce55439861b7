"""The sentences that text, notebook report and dashboard share, so that one figure reads the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuprof.analyses.accounts.outside_steps import OutsideSteps
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.validity.unrecorded_work import UnrecordedWork
from gpuprof.report.facts.efficiency import rate_words
from gpuprof.rules.base.finding import Abstention
from gpuprof.units import duration, percent, plural
from gpuprof.views.theme import BUDGET, Kind

if TYPE_CHECKING:
    from gpuprof.report import Report

_MOST_NAMES, _SOME_NAMES = 6, 3
# of the time outside the steps: phases with less are not named
_WORTH_NAMING = 0.05


@dataclass(frozen=True)
class BudgetRow:
    """One kind of time that occurred: `ns` of the whole, `share` of it (0..1), `title` with its own details."""

    kind: Kind
    ns: int
    share: float
    detail: str = ""


def budget_rows(report: Report) -> list[BudgetRow]:
    """The categories that took any time, in the budget's order; they add up to the whole exactly.

    None of a recording in which no figure holds.
    """
    if report.gate.validity.nothing_holds:
        return []
    return [
        BudgetRow(BUDGET[entry.category], entry.ns, entry.share, _detail(report, entry.category))
        for entry in report.budget.entries
        if entry.ns > 0
    ]


def _detail(report: Report, category: str) -> str:
    if category.endswith("outside_steps"):
        known = report.results.get(OutsideSteps).phases
        # of the same whole as every row
        part = report.budget.share(category)
        named = [each for each in known if each[1] >= _WORTH_NAMING and each[0] is not Phase.OTHER]
        return ", ".join(f"{phase.value} {percent(share * part)}" for phase, share in named[:3])
    if category != "operators":
        return ""
    names = {"backward_ns": "backward", "optimizer_ns": "optimizer", "forward_ns": "forward and others"}
    times = [(name, report.budget.detail.get(key, 0)) for key, name in names.items()]
    found = [f"{name} {duration(ns)}" for name, ns in times if ns > 0]
    # all of it is no detail
    return ", ".join(found) if len(found) > 1 else ""


def budget_title(report: Report) -> str:
    """What the budget divides: `1.21 s of device 0 (Tesla V100)` or `… of the main thread`."""
    whole, device = duration(report.budget.total_ns), report.budget.device
    if device is None:
        return f"{whole} of the main thread"
    name = report.trace.device(device).name
    return f"{whole} of device {device}" + (f" ({name})" if name else "")


def facts(report: Report) -> list[str]:
    """What was profiled, in a few words each: name, kind of run, device, torch, steps or iterations, their rate."""
    trace, environment = report.trace, report.trace.context.environment
    torch = trace.source.torch or (environment.torch if environment else None)
    names = {device.name for device in trace.devices if device.name}
    known = [report.title, *kind_words(report), *sorted(names)]
    if trace.source.rank is not None:
        known.append(f"rank {trace.source.rank}")
    if torch:
        known.append(f"torch {torch}")
    steps = len(trace.steps)
    if steps:
        known.append(_steps(report, steps))
    elif (found := report.results.get(Iterations).main) is not None:
        median = f"{', median' if found.count > 1 else ' of'} {duration(found.median_ns)}"
        if report.results.get(UnrecordedWork).doubt is not None:
            median = ""  # the wait for earlier work is part of it
        known.append(f"{plural(found.count, 'iteration')}{median}")
    if steps and (rate := rate_words(report.results)):
        known.append(rate)
    return known


def _steps(report: Report, count: int) -> str:
    """How many were recorded, and how long one takes: without the recording where that is known."""
    plain = report.results.get(PlainIterations).plain
    if plain is not None:
        return f"{plural(count, 'step')} recorded, median {duration(plain.median_ns)} without recording"
    return f"{plural(count, 'step')}{', median' if count > 1 else ' of'} {duration(report.step_ns)}"


def kind_words(report: Report) -> tuple[str, ...]:
    """`training`, `inference`, `serving`; nothing where the kind of run is not known."""
    kind = report.results.get(RunKind).kind
    return () if kind is KindOfRun.OTHER or report.gate.validity.nothing_holds else (kind.value,)


def grouped_abstentions(abstained: tuple[Abstention, ...]) -> list[tuple[str, str, str]]:
    """Abstentions with the same reason as one: `(rules, needs, how)`; of many rules the first few are named."""
    groups: dict[tuple[str, str], list[str]] = {}
    for abstention in abstained:
        groups.setdefault((abstention.needs, abstention.how), []).append(abstention.rule)
    return [(some_names(names), needs, how) for (needs, how), names in groups.items()]


def some_names(names: list[str]) -> str:
    """Rules by name; of many the first few and how many others."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_SOME_NAMES])} and {len(names) - _SOME_NAMES} other rules"


def trust_words(report: Report) -> str:
    """Every note of the trust line, one after the other."""
    return " ".join(sentence_end(note) for note in report.trust.notes)


def sentence_end(words: str) -> str:
    """`words` with a full stop at the end, if it has none."""
    stripped = words.strip()
    return stripped if stripped.endswith((".", ":", "?")) else stripped + "."


def sentence_start(words: str) -> str:
    """`words` with a capital at the beginning."""
    return words[:1].upper() + words[1:]


def bar_words(report: Report) -> str:
    """What the bar shows, for those who cannot see it."""
    parts = [f"{row.kind.label} {percent(row.share)} ({duration(row.ns)})" for row in budget_rows(report)]
    return f"Where the time went, {budget_title(report)}: {', '.join(parts)}."


def picture_words(report: Report) -> str:
    """What the picture shows, for those who cannot see it."""
    return f"The timeline of {budget_title(report)}: its lanes, coloured by kind of time."
