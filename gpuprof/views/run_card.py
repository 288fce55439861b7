"""The card of a run: what is shown first, and all that is needed to decide what to do. Everything else is detail."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.run.work_rate import WorkRate
from gpuprof.report.facts.efficiency import rate_words
from gpuprof.rules.base.finding import Severity
from gpuprof.units import duration, percent, plural
from gpuprof.views.card import Card, cards
from gpuprof.views.sections.registry import sections_of
from gpuprof.views.wording import BudgetRow, budget_rows, kind_words

if TYPE_CHECKING:
    from gpuprof.report import Report

_MOST_OTHERS = 2
# from here on the lines of a cell without torch work are worth a report
_LEAST_WORTH_NS = 500_000_000
_LONGEST_ACTION, _LONGEST_TITLE, _LONGEST_GAIN, _LONGEST_NOTE = 120, 48, 60, 220
# px, of a bar in a narrow notebook, and of a letter in it
_BAR, _LETTER, _PADDING = 600, 7.2, 12
_CLAUSE_ENDS = re.compile(r"(?<=[\w`)])[.:;](?=\s|$)")
_LOOSE_END = re.compile(r"(\s(a|an|and|for|in|of|or|the|to|with|without|\d[\d.]*|%))+$")
_CODE = re.compile(r"`[^`]*`")


@dataclass(frozen=True)
class BarPart:
    """One kind of time in the bar; `label` is what fits into it, empty where nothing does."""

    row: BudgetRow
    label: str


@dataclass(frozen=True)
class FirstAction:
    """What to do first: of which finding, in one clause, where, and what it brings."""

    card: Card
    words: str
    place: str
    gain: str

    @property
    def gain_with_button(self) -> str:
        """The gain, where a button measures it."""
        return self.gain if self.card.measured else self.card.saving

    @property
    def fixes(self) -> bool:
        """Whether there is changed code to insert."""
        return any(command.startswith("%gpufix") for command in self.card.commands)

    @property
    def tries(self) -> bool:
        """Whether the change can be measured."""
        return any(command.startswith("%gputry") for command in self.card.commands)

    @property
    def commands(self) -> tuple[str, ...]:
        """The magics that do it."""
        return tuple(each for each in self.card.commands if not each.startswith("%gpuexplain"))


@dataclass(frozen=True)
class RunCard:
    """Texts are plain; backticks stand for code. A part that a run lacks is empty.

    `no_work`: one line that stands in place of everything, for a cell without anything of torch's. `others`: number,
    title and whole title of the next findings; `more`: how many come after them. `note` stands where no action does.
    `links`: key and title of what can be opened.
    """

    no_work: str
    caution: str
    heading: str
    facts: tuple[str, ...]
    bar: tuple[BarPart, ...]
    first: FirstAction | None
    note: str
    others: tuple[tuple[int, str, str], ...]
    more: int
    links: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, report: Report) -> Self:
        """The card of a report."""
        every = cards(report)
        worth = bool(every) and report.findings[0].severity > Severity.LOW
        first = _first(report, every[0]) if worth else None
        rest = every[1:] if worth else every
        gate = report.gate
        return cls(
            no_work=no_work_words(report),
            caution=gate.doubts[0].sentence if report.verdict.caution and gate.doubts else "",
            heading=report.verdict.headline,
            facts=_facts(report),
            bar=tuple(BarPart(row, _label(row)) for row in budget_rows(report)),
            first=first,
            note="" if first else _cut(report.verdict.advice, _LONGEST_NOTE),
            others=tuple(
                (each.number, _cut(each.title.rstrip("."), _LONGEST_TITLE), each.title) for each in rest[:_MOST_OTHERS]
            ),
            more=max(len(rest) - _MOST_OTHERS, 0),
            links=_links(report),
        )


def detail_cards(report: Report) -> tuple[Card, ...]:
    """Every finding as it stands below the card, which says what the first one saves."""
    every = cards(report)
    if RunCard.of(report).first is None:
        return every
    return (replace(every[0], saving="", measure=""), *every[1:])


def caution_rest(report: Report) -> str:
    """What is to be said of a doubtful recording besides the card's caution; empty for a sound one."""
    if not report.verdict.caution:
        return ""
    return " ".join((*(doubt.sentence for doubt in report.gate.doubts[1:]), *report.gate.remedies()))


def no_work_words(report: Report) -> str:
    """`gpuprof: 0.2 s, no torch work to profile.`; empty where there is anything to say of the cell."""
    trace = report.trace
    window, outcome = trace.context.window, trace.context.outcome
    failed = outcome is not None and outcome.error is not None
    # a note may say what was not recorded, such as training on another thread
    told = bool(report.findings or report.gate.doubts or trace.context.notes)
    known = told or failed or trace.source.kind == "snapshot"
    inside = bool((trace.operators["start_ns"] >= trace.span_start_ns).any())
    ran = bool(inside or len(trace.device_events) or len(trace.calls) or len(trace.steps))
    # a single sample is enough to know a line, but says nothing about a very short cell
    lasted = window is not None and window.cell_end_ns - window.cell_start_ns >= _LEAST_WORTH_NS
    lines = lasted and any(spot.line is not None for spot in report.results.get(HotSpots).spots)
    if known or ran or lines or window is None:
        return ""
    return f"gpuprof: {duration(window.cell_end_ns - window.cell_start_ns)}, no torch work to profile."


def _facts(report: Report) -> tuple[str, ...]:
    """Kind of run, steps, time per step, samples or tokens per second, device."""
    trace, rate = report.trace, report.results.get(WorkRate)
    window = trace.context.window
    steps = (window.steps_seen if window else 0) or len(trace.steps)
    step_ns = rate.median_ns or report.step_ns
    told = list(kind_words(report))
    if trace.source.rank is not None:
        told.append(f"rank {trace.source.rank}")
    if steps:
        told.append(plural(steps, "step"))
    if steps and step_ns:
        told.append(f"{duration(step_ns)} per step")
    if steps and (words := rate_words(report.results)):
        told.append(words)
    if not steps and report.budget.total_ns:
        told.append(f"{duration(report.budget.total_ns)} recorded")
    names = sorted({device.name for device in trace.devices if device.name})
    if names:
        told.append(", ".join(names))
    elif trace.device_recorded is None and "No GPU" not in report.verdict.headline and trace.span_ns:
        told.append("no GPU in this run")
    return tuple(told)


def _label(row: BudgetRow) -> str:
    """Kind and share where both fit, the share where that does, else nothing."""
    share = percent(row.share).replace(" ", "")
    room = row.share * _BAR - _PADDING
    return next((each for each in (f"{row.kind.label} {share}", share) if len(each) * _LETTER <= room), "")


def _first(report: Report, card: Card) -> FirstAction:
    finding, cell = report.findings[0], report.trace.context.cell
    where = ""
    if finding.where.lines:
        where = f"line {finding.where.lines[0]}"
        if cell is not None and cell.execution_count is not None:
            where = f"In [{cell.execution_count}], {where}"
    if card.measured:
        gain = f"measured: {_cut(card.measured, _LONGEST_GAIN)}"
    else:
        gain = card.phrase if card.measure.startswith("`%") else card.saving
    return FirstAction(card, first_clause(card.change) or card.title.rstrip("."), where, gain)


def first_clause(text: str) -> str:
    """The first clause of an advice, code left whole: `Set num_workers=4`, of `Set num_workers=4: so many are …`."""
    hidden = _CODE.sub(lambda found: "`" + "_" * (len(found[0]) - 2) + "`", text)
    end = _CLAUSE_ENDS.search(hidden)
    return _cut(text[: end.start()] if end else text, _LONGEST_ACTION)


def _cut(text: str, longest: int) -> str:
    """At most that long, cut between words and outside of code."""
    if len(text) <= longest:
        return text
    kept = text[:longest].rsplit(" ", 1)[0]
    if kept.count("`") % 2:
        kept = kept.rsplit("`", 1)[0]
    return _LOOSE_END.sub("", kept).rstrip(" ,;:(") + " …"


def _links(report: Report) -> tuple[tuple[str, str], ...]:
    known = {section.key: section.title for section in sections_of(report)}
    links = [("timeline", "Timeline")] if report.trace.span_ns else []
    wanted = ("lines", "memory") if report.findings else ("where", "lines", "memory")
    return (*links, *((key, known[key]) for key in wanted if key in known), ("details", "All details"))
