"""The whole verdict as plain text, at most 100 columns wide: for terminals, logs and stripped notebooks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.idle_work import DeviceIdleWork
from gpuprof.analyses.accounts.memory_by_phase import MemoryByPhase
from gpuprof.analyses.device.device_spots import DeviceSpots
from gpuprof.model.kernel_names import function_name
from gpuprof.report.facts.bandwidth import bandwidth_words
from gpuprof.report.facts.efficiency import efficiency_words
from gpuprof.report.facts.looked_efficiency import looked_efficiency_words
from gpuprof.report.growth_words import growth_words
from gpuprof.report.spot_words import memory_words, place, spot_phase, what, without_package
from gpuprof.units import duration, percent, unbroken
from gpuprof.views import accounts, module_words, wording
from gpuprof.views.abstentions import abstention_lines
from gpuprof.views.card import Card, cards
from gpuprof.views.line_gains import hidden_sentence
from gpuprof.views.memory_parts import memory_line
from gpuprof.views.rank_blocks import late_words, rank_lines
from gpuprof.views.theme import BUDGET

if TYPE_CHECKING:
    from gpuprof.report import Comparison, Report

WIDTH = 100
LABEL, BAR = 24, 50
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def render_text(report: Report, *, comparison: Comparison | None = None, whole: bool = False) -> str:
    """Verdict, time budget, memory, the line that misleads, findings, what was not judged, and how far to trust it.

    `comparison` with an earlier run: its sentence follows the verdict, and where `whole` its tables stand at the end.
    """
    blocks = [
        _wrap("gpuprof · " + " · ".join(wording.facts(report))),
        _wrap(report.verdict.caution),
        _wrap(f"{report.verdict.headline} {report.verdict.advice}"),
        _wrap(comparison.sentence()) if comparison else "",
        _budget(report),
        _accounts(report),
        _ranks(report),
        _modules(report),
        "" if report.gate.validity.nothing_holds else _wrap(efficiency_words(report.results)),
        "" if report.gate.validity.nothing_holds else _wrap(looked_efficiency_words(report.results)),
        "" if report.gate.validity.nothing_holds else _wrap(bandwidth_words(report.results)),
        _wrap(memory_line(report.results)),
        _wrap(memory_words(report.results.get(CellMemory))),
        _wrap(growth_words(report.results.get(MemoryByPhase))),
        _wrap(hidden_sentence(report.results)),
        _findings(report),
        _abstained(report),
        _trust(report),
        _changes(comparison) if comparison and whole else "",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_comparison(comparison: Comparison) -> str:
    """The later run against the earlier one: the sentence, both budgets, and the change of the code."""
    return f"{_wrap(comparison.sentence())}\n\n{_changes(comparison)}\n"


def _changes(comparison: Comparison) -> str:
    width = max((len(BUDGET[name].label) for name, _, _ in comparison.budget_rows()), default=LABEL)
    rows = [
        f"  {BUDGET[name].label:<{width}}  {duration(before):>10}  →  {duration(after):>10}"
        for name, before, after in comparison.budget_rows()
        if before or after
    ]
    unit = "an average steady step" if comparison.per_step else "the recorded span"
    head = f"Where {unit} went, before → after"
    code = comparison.code_diff
    changed = "What changed in the cell\n" + textwrap.indent(code, "  ") if code else ""
    return "\n\n".join(block for block in ("\n".join([head, *rows]), changed.rstrip()) if block)


def _budget(report: Report) -> str:
    rows = wording.budget_rows(report)
    if not rows:
        return ""
    lines = [f"Where the time went: {wording.budget_title(report)}"]
    for row in rows:
        lines.append(
            f"  {row.kind.label:<{LABEL}}{bar(row.share):<{BAR}} {duration(row.ns):>10} {percent(row.share):>8}"
        )
        if row.detail:
            lines.append(f"  {'':<{LABEL}}{row.detail}")
    lines.append(f"  {'together':<{LABEL}}{'':<{BAR}} {duration(report.budget.total_ns):>10} {percent(1.0):>8}")
    return "\n".join(lines)


def _accounts(report: Report) -> str:
    """Hot spots, phases, and what the CPU did while the device was idle."""
    results = report.results
    spots, idle = results.get(HotSpots).spots, results.get(DeviceIdleWork).work
    if report.gate.validity.nothing_holds or not (spots or idle or results.get(DeviceSpots).spots):
        return ""
    lines = [f"Hot spots of {accounts.whole(results)}{accounts.spots_are(results)}:"] if spots else []
    for spot in spots:
        lines += _spot(spot)
    if spots and (words := accounts.phase_words(results)):
        lines += textwrap.wrap(
            f"{accounts.phases_are(results)}: {words}.", WIDTH, subsequent_indent="  ", break_on_hyphens=False
        )
    if idle:
        lines.append("While the device was idle, the CPU was in:")
    for each in idle:
        line = "" if each.line is None else f", line {each.line} of the cell"
        lines.append(f"  {percent(each.share):>7}  {function_name(each.what)}{line}")
    lines = [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in lines]
    return "\n".join([*lines, *accounts.device_lines(results, WIDTH)])


def _spot(spot: HotSpot) -> list[str]:
    """Its line; the package of what ran is left out where the line would be too long, before anything else is."""
    phase = f" ({spot_phase(spot)})" if spot_phase(spot) else ""
    begin = f"  {percent(spot.share):>7}  {f'{place(spot)}: ' if place(spot) else ''}"
    line = f"{begin}{what(spot)}{phase}"
    if len(line) > WIDTH:
        line = f"{begin}{without_package(what(spot))}{phase}"
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * 11, break_on_hyphens=False)


def _ranks(report: Report) -> str:
    """What each of several ranks transfers and waits, and for which rank."""
    if report.gate.validity.nothing_holds:
        return ""
    return "\n".join([*rank_lines(report.results), *filter(None, [_wrap(late_words(report.results))])])


def _modules(report: Report) -> str:
    return "" if report.gate.validity.nothing_holds else "\n".join(module_words.lines(report.results, WIDTH))


def bar(share: float, width: int = BAR - 2) -> str:
    """A bar of block characters, `share` of `width` long, exact to an eighth; the least that is not 0 still shows."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _findings(report: Report) -> str:
    if not report.findings:
        return ""
    return "\n\n".join(["What to change, best first", *(_finding(card) for card in cards(report))])


def _finding(card: Card) -> str:
    lines = [
        _wrap(f"{card.title} [{card.severity}]", f"{card.number:>2}. ", "    "),
        _wrap(card.explanation, "    "),
        _labelled("Gain", _saving(card)),
        _labelled("Measured", card.measured),
        _labelled("Change", card.change),
        textwrap.indent("\n".join(line.text for line in card.diff), "      "),
        _labelled("Where", card.where),
        _wrap(card.leave_it, "    "),
        _labelled("More", " · ".join(card.commands)),
    ]
    return "\n".join(line for line in lines if line)


def _saving(card: Card) -> str:
    if not card.saving:
        return ""
    return f"{wording.sentence_start(card.phrase)} ({card.grade})"


def _abstained(report: Report) -> str:
    if not report.abstained:
        return ""
    lines = abstention_lines(report.abstained, foreign=report.trace.source.kind != "recording")
    return "\n".join(
        ["Not judged, because the recording does not show it", *(_wrap(line, "  ", "    ") for line in lines)]
    )


def _trust(report: Report) -> str:
    if not report.trust.notes:
        return ""
    return "\n".join(["How far to trust this", *(_wrap(note, "  ", "    ") for note in report.trust.notes)])


def _labelled(label: str, words: str) -> str:
    return _wrap(words, f"    {label + ':':<10}", " " * 14) if words else ""


def _wrap(words: str, first: str = "", rest: str | None = None) -> str:
    indent = first if rest is None else rest
    # a number stays with its unit; names of kernels and files may be longer than a line, and are broken
    kept = unbroken(words)
    filled = textwrap.fill(kept, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
    return filled.replace("\u00a0", " ")
