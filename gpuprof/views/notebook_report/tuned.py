"""What a search for settings found, as plain text and as a card: the best, its change as a diff, what was tried."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from gpuprof.code_edits.syntax.diff import as_typed, unified_diff
from gpuprof.units import count, factor
from gpuprof.views.diff import DiffLine, diff_lines
from gpuprof.views.notebook_report.bundle import SKIN
from gpuprof.views.templating import environment

if TYPE_CHECKING:
    from gpuprof.verification.tuning.tuning import TriedSettings, Tuning

_HEADS = ("settings", "turns", "speed", "range", "outcome")
Row = tuple[str, str, str, str, str]


def tuned_text(tuning: Tuning, *, insert: bool) -> str:
    """The whole of it as plain text; `insert` says that `%gpufix` inserts the best settings."""
    title, *lines = tuning.lines()
    parts = [title, *(f"  {line}" for line in lines)]
    if rows := _rows(tuning):
        parts += ["", "Tried (speed: time unchanged ÷ time with the settings)", *_table(rows)]
    if change := _change(tuning):
        parts += ["", *(line.text for line in change if line.role != "file")]
    if insert and tuning.settings:
        parts += ["", "Insert with %gpufix"]
    return "\n".join(parts)


def tuned_html(tuning: Tuning, *, insert: bool) -> str:
    """The same as an HTML fragment without style element, script, id or class; every text is escaped."""
    title, *lines = tuning.lines()
    return _template().render(
        title=title,
        lines=lines,
        change=_change(tuning),
        insert=insert and bool(tuning.settings),
        rows=_rows(tuning),
        heads=_HEADS,
        skin=SKIN,
    )


def _change(tuning: Tuning) -> tuple[DiffLine, ...]:
    return diff_lines(unified_diff(as_typed(tuning.before), as_typed(tuning.after))) if tuning.settings else ()


def _rows(tuning: Tuning) -> list[Row]:
    return [_row(each) for each in tuning.tried]


def _row(tried: TriedSettings) -> Row:
    speed = factor(tried.ratio) if tried.ratio is not None else "–"
    known = tried.low is not None and tried.high is not None
    within = f"{tried.low:.2f}–{tried.high:.2f}" if known else "–"
    return tried.name, count(tried.turns), speed, within, tried.fate


def _table(rows: list[Row]) -> list[str]:
    every = [_HEADS, *rows]
    widths = [max(len(row[at]) for row in every) for at in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  " + "  ".join(f"{row[at]:>{widths[at]}}" for at in (1, 2, 3)) + f"  {row[4]}"
        for row in every
    ]


@functools.cache
def _template() -> jinja2.Template:
    return environment(Path(__file__).parent).get_template("tuned.html.jinja")
