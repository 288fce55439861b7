"""A finding as every view shows it: each of its parts in words, made once from the Finding and its Report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.model.intervals import Intervals, intersect, union
from gpuprof.report.saving_words import measure_words, saving_phrase, saving_words, shown
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.units import Figure, duration, figures, percent
from gpuprof.views.diff import DiffLine, diff_lines
from gpuprof.views.theme import BUDGET, Kind

if TYPE_CHECKING:
    from gpuprof.report import Report

_GRADES = {
    "A": "arithmetic on what was measured",
    "B": "replayed from the recorded run",
    "C": "an upper bound",
}
_MOST_LINES = 8
_ON_SOURCE = ("%gpufix", "%gputry")


@dataclass(frozen=True)
class Card:
    """Texts are plain; backticks stand for code. A part that a finding lacks is empty.

    `number` is from 1. `kind`: the kind of time that fills most of its ranges, None where it has none. `in_timeline`:
    it has ranges to be shown there. `saving` and `grade` go together, and so do the lines of `diff`. `measure`: how to
    measure what it saves, where no range is shown and nothing has been measured yet.
    """

    number: int
    rule: str
    title: str
    severity: str
    kind: Kind | None
    explanation: str
    evidence: tuple[Figure, ...]
    change: str
    diff: tuple[DiffLine, ...]
    saving: str
    grade: str
    measure: str
    measured: str
    leave_it: str
    where: str
    in_timeline: bool
    commands: tuple[str, ...]

    @classmethod
    def of(cls, report: Report, number: int) -> Self:
        """The card of the report's finding of that number, from 1."""
        finding = report.findings[number - 1]
        measured = _measured(report, number, finding)
        return cls(
            number=number,
            rule=finding.rule,
            title=finding.title,
            severity=finding.severity.label,
            kind=_kind(report, finding),
            explanation=finding.explanation,
            evidence=figures(finding.evidence),
            change=finding.change,
            diff=diff_lines(finding.diff or ""),
            saving=saving_words(report.results, finding),
            grade=_grade(report, finding, finding.saving) if finding.saving else "",
            measure="" if measured else measure_words(report.trace, report.results, finding, number),
            measured=measured,
            leave_it=finding.leave_it,
            where=_where(report, finding),
            in_timeline=bool(finding.where.ranges_ns),
            commands=_commands(number, finding),
        )

    @property
    def phrase(self) -> str:
        """What it saves and, where that is not known well enough, how to measure it; empty without a saving."""
        return saving_phrase(self.saving, self.measure)

    def without_source(self) -> Self:
        """The same without the diff and what asks for it."""
        commands = tuple(command for command in self.commands if not command.startswith(_ON_SOURCE))
        measure = "" if self.measure.strip("`").startswith(_ON_SOURCE) else self.measure
        return replace(self, diff=(), measure=measure, commands=commands)


def cards(report: Report) -> tuple[Card, ...]:
    """Every finding, best first."""
    return tuple(Card.of(report, number) for number in range(1, len(report.findings) + 1))


def _grade(report: Report, finding: Finding, saving: Saving) -> str:
    """`of the recorded time; grade B: simulated without waits; ±5 % run-to-run variation`, the last with a GPU."""
    on_device = report.results.get(DeviceActivity).recorded
    varies = f"; ±{percent(saving.spread)} run-to-run variation" if saving.spread and on_device else ""
    basis = saving.basis or _GRADES.get(saving.grade, "")
    if not on_device and (told := shown(report.results, finding)) is not None:
        # such a bound is the middle of a range that was measured, unless it may save nothing
        basis = basis if told.from_zero else basis.replace("upper bound: ", "estimate: ")
    return f"of {saving.whole}; grade {saving.grade}: {basis}{varies}"


def _where(report: Report, finding: Finding) -> str:
    """`line 4; 5 examples, longest at t = 34.5 ms to 66.0 ms` of the recording; empty where it is nowhere."""
    parts = []
    lines = finding.where.lines
    if lines:
        numbers = ", ".join(map(str, lines[:_MOST_LINES])) + (", …" if len(lines) > _MOST_LINES else "")
        parts.append(("line " if len(lines) == 1 else "lines ") + numbers)
    origin, whole = report.trace.span_start_ns, report.trace.span_ns
    ranges = [(max(t0 - origin, 0), min(t1 - origin, whole)) for t0, t1 in finding.where.ranges_ns]
    ranges = [(t0, t1) for t0, t1 in ranges if t0 < t1]
    if ranges:
        longest = max(ranges, key=lambda each: each[1] - each[0])
        start, end = duration(longest[0]), duration(longest[1])
        at = f"t = {start}" if start == end else f"t = {start} to {end}"
        parts.append(at if len(ranges) == 1 else f"{len(ranges)} examples, longest at {at}")
    return "; ".join(parts)


def _commands(number: int, finding: Finding) -> tuple[str, ...]:
    """The magics that go on from a finding: its changed cell and what that gains, where there is a diff; its page."""
    changes = [f"%gpufix {number}"] if finding.diff else []
    if finding.diff and (finding.saving or finding.severity > Severity.LOW):
        changes.append(f"%gputry {number}")  # a minor point without a saving has nothing to measure
    return (*changes, f"%gpuexplain {finding.rule}")


def _measured(report: Report, number: int, finding: Finding) -> str:
    """The newest measurement by `%gputry` on this finding; empty where it was not tried."""
    newest = report.measured_of(number, finding)
    return newest.text if newest else ""


def _kind(report: Report, finding: Finding) -> Kind | None:
    ranges = finding.where.ranges_ns
    if not ranges:
        return None
    where = union(Intervals(*(np.array(column, np.int64) for column in zip(*ranges, strict=True))))
    filled = {category: intersect(part, where).total_ns for category, part in report.budget.parts.items()}
    most = max(filled, key=lambda category: filled[category], default=None)
    return BUDGET[most] if most is not None and filled[most] > 0 else None
