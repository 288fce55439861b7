"""The sentences that text, notebook report and dashboard share, so that one figure reads the same everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.model.intervals import Intervals, intersect, union
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity
from gpuprof.units import NS_PER_MS, NS_PER_US, count, duration, percent, plural, rate, size
from gpuprof.views.theme import BUDGET, Kind

if TYPE_CHECKING:
    from gpuprof.report import Report

GRADES = {
    "A": "arithmetic on what was measured",
    "B": "replayed from the recorded run",
    "C": "an upper bound",
}

_MOST_NAMES, _SOME_NAMES = 6, 3
_NUMBER_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|min|[KMGT]?i?B(?:/s)?|kB/s|°C|MHz|W)(?:\W|$))")
_SCALES: dict[str, tuple[float, Callable[[float], str]]] = {
    "ns": (1, duration),
    "us": (NS_PER_US, duration),
    "ms": (NS_PER_MS, duration),
    "bytes": (1, size),
}


@dataclass(frozen=True)
class BudgetRow:
    """One kind of time that occurred: `ns` of the whole, `share` of it (0..1), `title` with its own details."""

    kind: Kind
    ns: int
    share: float
    detail: str = ""


def budget_rows(report: Report) -> list[BudgetRow]:
    """The categories that took any time, in the budget's order; they add up to the whole exactly."""
    return [
        BudgetRow(BUDGET[entry.category], entry.ns, entry.share, _detail(report, entry.category))
        for entry in report.budget.entries
        if entry.ns > 0
    ]


def _detail(report: Report, category: str) -> str:
    if category != "operators":
        return ""
    phases = [(name, report.budget.detail.get(f"{name}_ns", 0)) for name in ("forward", "backward", "optimizer")]
    return ", ".join(f"{name} {duration(ns)}" for name, ns in phases if ns > 0)


def budget_title(report: Report) -> str:
    """What the budget divides: `1.21 s of device 0 (Tesla V100)` or `… of the main thread`."""
    whole, device = duration(report.budget.total_ns), report.budget.device
    if device is None:
        return f"{whole} of the main thread"
    name = report.trace.device(device).name
    return f"{whole} of device {device}" + (f" ({name})" if name else "")


def facts(report: Report) -> list[str]:
    """What was profiled, in a few words each: name, device, torch, steps."""
    trace, environment = report.trace, report.trace.context.environment
    torch = trace.source.torch or (environment.torch if environment else None)
    names = {device.name for device in trace.devices if device.name}
    known = [report.title, *sorted(names)]
    if trace.source.rank is not None:
        known.append(f"rank {trace.source.rank}")
    if torch:
        known.append(f"torch {torch}")
    steps = len(trace.steps)
    if steps:
        known.append(f"{plural(steps, 'step')}{', median' if steps > 1 else ' of'} {duration(report.step_ns)}")
    return known


def saving_words(saving: Saving) -> str:
    """`up to 273 ms; 22 % of the recorded time`, `120 ms to 180 ms; 10 % to 15 % of …`, or `about 150 ms; …` where both
    ends agree. The times are of this run, the shares of the next one, whose rest differs."""
    low, high = duration(saving.low_ns), duration(saving.high_ns)
    least, most = percent(saving.least_share), percent(saving.most_share)
    times = f"about {high}" if low == high else f"{low} to {high}"
    share = most if least == most else f"{least} to {most}"
    if saving.low_ns <= 0:
        times, share = f"up to {high}", most
    return f"{times}; {share} of {saving.whole}"


def grade_words(saving: Saving) -> str:
    """`grade C: upper bound: all of the wait; what remains may take 30 % more or less`."""
    differs = f"; what remains may take {percent(saving.spread)} more or less"
    return f"grade {saving.grade}: {saving.basis or GRADES.get(saving.grade, '')}{differs if saving.spread else ''}"


def where_words(report: Report, finding: Finding) -> str:
    """`line 4; 12 places, the first from 34.5 ms to 66.0 ms`; empty where it is nowhere in particular."""
    parts = []
    lines = finding.where.lines
    if lines:
        numbers = ", ".join(str(line) for line in lines[:8]) + (", …" if len(lines) > 8 else "")
        parts.append(("line " if len(lines) == 1 else "lines ") + numbers)
    origin, whole = report.trace.span_start_ns, report.trace.span_ns
    ranges = [(max(t0 - origin, 0), min(t1 - origin, whole)) for t0, t1 in finding.where.ranges_ns]
    ranges = [(t0, t1) for t0, t1 in ranges if t0 < t1]
    if ranges:
        start, end = duration(ranges[0][0]), duration(ranges[0][1])
        at = f"at {start}" if start == end else f"from {start} to {end}"
        parts.append(at if len(ranges) == 1 else f"{plural(len(ranges), 'place')}, the first {at}")
    return "; ".join(parts)


def commands(number: int, finding: Finding) -> list[str]:
    """The magics that go on from a finding: its changed cell and what that gains, where there is a diff; its page."""
    changes = [f"%gpufix {number}"] if finding.diff else []
    if finding.diff and (finding.saving or finding.severity > Severity.LOW):
        changes.append(f"%gputry {number}")  # a minor point without a saving has nothing to measure
    return [*changes, f"%gpuexplain {finding.rule}"]


def measured_words(report: Report, number: int, finding: Finding) -> str:
    """The newest verdict of `%gputry` on this finding; empty where it was not tried."""
    tried = [each.text for each in report.measured if each.number == number and each.rule == finding.rule]
    return tried[-1] if tried else ""


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


def evidence_rows(finding: Finding) -> list[tuple[str, str]]:
    """Each piece of evidence in words: `wait_ms_per_step: 58.0` is `("wait per step", "58.0 ms")`."""
    rows = [_evidence(name, value) for name, value in finding.evidence.items()]
    times = Counter(label for label, _ in rows)
    # `gaps` and `gaps_ns` would else read the same
    return [
        (f"{label}, together" if times[label] > 1 and _in_time(name) else label, value)
        for (label, value), name in zip(rows, finding.evidence, strict=True)
    ]


def _in_time(name: str) -> bool:
    return any(unit in name.split("_") for unit in ("ns", "us", "ms"))


def _evidence(name: str, value: float | int | str) -> tuple[str, str]:
    if isinstance(value, str):
        return name.replace("_", " "), value
    if name.endswith("_gb_per_s"):
        return name.removesuffix("_gb_per_s").replace("_", " "), rate(value * 1e9)
    words = name.split("_")
    if words[-1] == "share":
        return " ".join(words), percent(value)
    at = next((i for i, word in enumerate(words) if word in _SCALES), None)
    if at is None:
        return " ".join(words), count(value) if isinstance(value, int) else _rounded(value)
    scale, write = _SCALES[words[at]]
    return " ".join(words[:at] + words[at + 1 :]) or words[at], write(value * scale)


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def unbroken(words: str) -> str:
    """`words` with no line break between a number and its unit (for HTML)."""
    return _NUMBER_UNIT.sub("\u00a0", words)


def trust_words(report: Report) -> str:
    """Every note of the trust line, one after the other."""
    return " ".join(sentence_end(note) for note in report.trust.notes)


def sentence_end(words: str) -> str:
    """`words` with a full stop at the end, if it has none."""
    stripped = words.strip()
    return stripped if stripped.endswith((".", ":", "?")) else stripped + "."


def picture_words(report: Report) -> str:
    """What the picture shows, for those who cannot see it."""
    parts = [f"{row.kind.label} {percent(row.share)} ({duration(row.ns)})" for row in budget_rows(report)]
    return f"Where the time went, {budget_title(report)}: {', '.join(parts)}; below it the same along the timeline."


def finding_kind(report: Report, finding: Finding) -> Kind | None:
    """The kind of time that fills most of the finding's ranges: its card has that colour. None where it has none."""
    ranges = finding.where.ranges_ns
    if not ranges:
        return None
    where = union(Intervals(*(np.array(column, np.int64) for column in zip(*ranges, strict=True))))
    filled = {category: intersect(part, where).total_ns for category, part in report.budget.parts.items()}
    most = max(filled, key=lambda category: filled[category], default=None)
    return BUDGET[most] if most is not None and filled[most] > 0 else None
