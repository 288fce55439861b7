"""The notebook output: plain text, and the notebook report: the run's card, and everything else folded below it.

No widget-view: a saved one hides every other representation once its kernel is gone.
"""

from __future__ import annotations

import base64
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.report.spot_words import memory_words
from gpuprof.views import wording
from gpuprof.views.accounts import account_blocks
from gpuprof.views.memory_parts import memory_line
from gpuprof.views.run_card import RunCard, caution_rest, detail_cards, no_work_words
from gpuprof.views.skin import Skin
from gpuprof.views.static_png.draw import render_picture
from gpuprof.views.templating import environment
from gpuprof.views.text import render_text
from gpuprof.views.theme import BUDGET

if TYPE_CHECKING:
    from gpuprof.report import Comparison, Report

# jupyter_server throttles outputs over 1 MB/s: page, notebook report and plain text must stay below it in total
MOST_PAGE_BYTES = 600_000
MOST_FINDINGS_OPEN = 4

_RULE = "1px solid rgba(128,128,128,.3)"
_SOFT = "opacity:.72;font-size:.92em"
_LINE = "display:block;box-sizing:border-box;width:max-content;min-width:100%;padding:0 10px"
# Garnish: it must read well without any. No text colour is set, so that it holds on light and dark.
SKIN = Skin(
    between=" · ",
    severity="[{}]",
    styles={
        "card": f"margin:10px 0;padding:8px 14px 10px 14px;border:{_RULE};border-left:4px solid;border-radius:5px",
        "title": "margin:0 0 4px 0",
        "name": "font-size:1.08em",
        "severity": _SOFT,
        "soft": _SOFT,
        "saving": "margin:0 0 4px 0",
        "measured": "margin:4px 0",
        "words": "margin:4px 0",
        "note": "margin:4px 0",
        "actions": f"margin:4px 0 0 0;{_SOFT}",
        "evidence": f"margin:4px 0 0 0;{_SOFT}",
        "figures": "margin:4px 0;border-collapse:collapse;table-layout:auto;font-size:13px",
        "label": "text-align:left;font-weight:normal",
        "figure": "text-align:right;white-space:nowrap",
        "diff": f"margin:6px 0;padding:6px 0;border:{_RULE};border-radius:4px;font-family:ui-monospace,Menlo,Consolas,"
        "monospace;font-size:.92em;line-height:1.45;white-space:pre;overflow-x:auto",
        "kept": _LINE,
        "added": f"{_LINE};background:rgba(79,168,115,.2)",
        "removed": f"{_LINE};background:rgba(240,80,92,.16)",
        "place": f"{_LINE};opacity:.6",
        "abstained": "margin:6px 0",
        "list": "margin:4px 0 4px 20px",
    },
)


def render_bundle(
    report: Report,
    *,
    comparison: Comparison | None = None,
    whole: bool = False,
    unsaved: str | None = None,
    embed: bool = False,
) -> dict[str, str]:
    """The mime bundle of a report: `text/plain` holds the whole verdict, `text/html` the report.

    `comparison` is with an earlier run; `whole`: its tables are part of the plain text too. `unsaved` says why the run
    could not be saved to disk. `embed`: the interactive page is part of the report, under 1 MB in total; without it the
    bundle of a usual cell is under 60 kB.
    """
    if (line := no_work_words(report)) and not unsaved:
        return {"text/plain": f"{line}\n", "text/html": render_paper(report, page_html=None)}
    text = render_text(report, comparison=comparison, whole=whole)
    if unsaved:
        text += f"\nNot saved: {unsaved}\n"
    page = _page(report) if embed else None
    return {
        "text/plain": text,
        "text/html": render_paper(report, page_html=page, comparison=comparison, unsaved=unsaved),
    }


def render_paper(
    report: Report,
    *,
    page_html: str | None,
    comparison: Comparison | None = None,
    unsaved: str | None = None,
) -> str:
    """The notebook report as an HTML fragment: the card, and everything else folded. `page_html` is the interactive
    page, in a sandboxed frame, or left out where it is larger than MOST_PAGE_BYTES or None.

    Every name and text is escaped. The fragment has no style element, script, id or class: it must neither change
    the page around it nor depend on it. By `data-gpuprof` the live card finds it, and stands in its place.
    """
    judged = not report.gate.validity.nothing_holds
    picture = render_picture(report.trace, report.results, bar=False) if judged else None
    return _template().render(
        report=report,
        run_card=RunCard.of(report),
        caution_rest=caution_rest(report),
        cards=detail_cards(report),
        skin=SKIN,
        rows=wording.budget_rows(report),
        accounts=account_blocks(report.results) if judged else [],
        memory=memory_line(report.results),
        cell_memory=memory_words(report.results.get(CellMemory)),
        picture=None if picture is None else "data:image/png;base64," + base64.b64encode(picture).decode("ascii"),
        page=page_html if page_html is not None and len(page_html.encode()) <= MOST_PAGE_BYTES else None,
        page_too_large=page_html is not None and len(page_html.encode()) > MOST_PAGE_BYTES,
        comparison=comparison,
        unsaved=unsaved,
        most_open=MOST_FINDINGS_OPEN,
        kinds=BUDGET,
    )


def _page(report: Report) -> str:
    from gpuprof.views.html.page import render_page

    return render_page(report, most_bytes=MOST_PAGE_BYTES, embedded=True)


@functools.cache
def _template() -> jinja2.Template:
    return environment(Path(__file__).parent).get_template("notebook_report.html.jinja")
