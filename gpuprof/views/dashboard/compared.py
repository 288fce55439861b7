"""A Comparison as HTML: bars on one scale, figures before and after, and the code beside them."""

from __future__ import annotations

import math

from gpuprof.report import Comparison, Summary
from gpuprof.report.comparison import LEAST_NOISE
from gpuprof.units import UNKNOWN, count, duration, factor, percent, size
from gpuprof.views.blocks import TableBlock, TableCell
from gpuprof.views.dashboard import fragments
from gpuprof.views.theme import BUDGET, Kind

Bar = tuple[str, list[tuple[Kind, float, float]], float]
_BASES = {
    "samples per second": "time per sample",
    "tokens per second": "time per token",
    "median step": "median recorded step",
}
_MINUS = "−"


def page(comparison: Comparison) -> str:
    """The sentence, both time budgets, the figures, findings gone and new, and the change of the code."""
    before, after = comparison.before, comparison.after
    unknown = before.source is None or after.source is None
    same = "The code of one of the two runs is not known." if unknown else "Nothing: the code is the same."
    either = "Both runs have the same findings." if before.findings else "Neither run has findings."
    bars = _bars(comparison)
    kinds = {kind.key: kind for _, parts, _ in bars for kind, _, _ in parts}
    return fragments.fragment(
        "compare",
        comparison=comparison,
        bars=bars,
        kinds=[kind for key, kind in BUDGET.items() if key in kinds],
        figures=_figures(comparison),
        budget=_budget(comparison),
        same_code=same,
        same_findings=either,
    )


def _name(run: Summary, otherwise: str) -> str:
    return f"{run.reference if run.run_number is not None else otherwise}: {run.title}"


def _whole(comparison: Comparison) -> str:
    return "an average steady step" if comparison.per_step else "the recorded span"


def _bars(comparison: Comparison) -> list[Bar]:
    """One bar a run: `(name, [(kind, ns, share of the bar)], width)`, the widths (0..1) on the same scale of time."""
    rows = [(BUDGET[name], old, new) for name, old, new in comparison.budget_rows() if name in BUDGET]
    totals = sum(old for _, old, _ in rows), sum(new for _, _, new in rows)
    longest = max(totals)
    if longest <= 0:
        return []
    names = _name(comparison.before, "before"), _name(comparison.after, "after")
    what = "average step" if comparison.per_step else "recorded"
    bars: list[Bar] = []
    for side, (name, total) in enumerate(zip(names, totals, strict=True)):
        parts = [(kind, times[side], times[side] / total) for kind, *times in rows if times[side] > 0] if total else []
        bars.append((f"{name}, {what} {duration(total)}", parts, total / longest))
    return bars


def _figures(comparison: Comparison) -> TableBlock:
    before, after = comparison.before, comparison.after
    rows = [
        (_BASES.get(comparison.basis, comparison.basis), *_times(comparison.before_ns, comparison.after_ns)),
        ("peak of allocated memory", *_sizes(before.peak_bytes, after.peak_bytes)),
        ("steps recorded", _number(before.steps), _number(after.steps), TableCell("", None)),
        ("findings", _number(len(before.findings)), _number(len(after.findings)), TableCell("", None)),
    ]
    if comparison.basis != "whole cell" and before.cell_ns is not None and after.cell_ns is not None:
        rows.insert(1, ("whole cell, set-up included", *_times(before.cell_ns, after.cell_ns)))
    noise = comparison.noise_share
    chance = "" if noise is None else factor(math.exp(max(noise, LEAST_NOISE)))
    note = f"By the scatter of the steps, median steps up to {chance} apart may differ by chance." if chance else ""
    return TableBlock("In figures", ("figure", "before", "after", "change"), tuple(rows), note, sortable=False)


def _budget(comparison: Comparison) -> TableBlock:
    rows = tuple(
        (BUDGET[name].label if name in BUDGET else name, *_times(old, new))
        for name, old, new in comparison.budget_rows()
        if old or new
    )
    return TableBlock(f"Where {_whole(comparison)} went", ("kind of time", "before", "after", "change"), rows)


def _times(before: float, after: float) -> tuple[TableCell, TableCell, TableCell]:
    change = after - before
    share = f" ({_signed(change)}{percent(abs(change) / before)})" if before > 0 else ""
    words = "" if not change else f"{_signed(change)}{duration(abs(change))}{share}"
    return TableCell(duration(before), before), TableCell(duration(after), after), TableCell(words, change)


def _sizes(before: int | None, after: int | None) -> tuple[TableCell, TableCell, TableCell]:
    change = None if before is None or after is None else after - before
    words = UNKNOWN if change is None else "" if not change else f"{_signed(change)}{size(abs(change))}"
    return TableCell(size(before), before), TableCell(size(after), after), TableCell(words, change)


def _number(value: int) -> TableCell:
    return TableCell(count(value), value)


def _signed(change: float) -> str:
    return "+" if change > 0 else _MINUS
