"""The notebook output: plain text, and the notebook report with the interactive page folded below it.

No widget-view: a saved one hides every other representation once its kernel is gone.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import jinja2

from gpuprof.units import duration, percent, plural
from gpuprof.views import wording
from gpuprof.views.memory_parts import memory_line
from gpuprof.views.notebook_report.diff import diff_lines
from gpuprof.views.rich_text import rich_text
from gpuprof.views.static_png.draw import render_picture
from gpuprof.views.text import render_text
from gpuprof.views.theme import BUDGET

if TYPE_CHECKING:
    from gpuprof.report import Comparison, Report

# jupyter_server throttles outputs over 1 MB/s: page, notebook report and plain text must stay below it in total
MOST_PAGE_BYTES = 600_000
MOST_FINDINGS_OPEN = 4


def render_bundle(
    report: Report, *, comparison: Comparison | None = None, whole: bool = False, unsaved: str | None = None
) -> dict[str, str]:
    """The mime bundle of a report: `text/plain` holds the whole verdict, `text/html` the report; under 1 MB in total.

    `comparison` is with an earlier run; `whole`: its tables are part of the plain text too. `unsaved` says why the run
    could not be saved to disk.
    """
    text = render_text(report, comparison=comparison, whole=whole)
    if unsaved:
        text += f"\nNot saved: {unsaved}\n"
    page = _page(report)
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
    """The notebook report as an HTML fragment: under 150 kB without `page_html`, the whole interactive page, folded
    below in a sandboxed frame, or left out where it is larger than MOST_PAGE_BYTES or None.

    Every name and text is escaped. The fragment has no style element, script, id or class: it must neither change
    the page around it nor depend on it.
    """
    picture = render_picture(report.trace, report.results)
    return _template().render(
        report=report,
        rows=wording.budget_rows(report),
        memory=wording.unbroken(memory_line(report.results)),
        picture=None if picture is None else "data:image/png;base64," + base64.b64encode(picture).decode("ascii"),
        page=page_html if page_html is not None and len(page_html.encode()) <= MOST_PAGE_BYTES else None,
        page_too_large=page_html is not None and len(page_html.encode()) > MOST_PAGE_BYTES,
        comparison=comparison,
        unsaved=unsaved,
        most_open=MOST_FINDINGS_OPEN,
    )


def _page(report: Report) -> str:
    from gpuprof.views.html.page import render_page

    return render_page(report, most_bytes=MOST_PAGE_BYTES, embedded=True)


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gpuprof.views.notebook_report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=wording, kinds=BUDGET, diff_lines=diff_lines)
    environment.filters.update(
        duration=lambda ns: wording.unbroken(duration(ns)),
        percent=lambda share: wording.unbroken(percent(share)),
        plural=plural,
        sentence_end=wording.sentence_end,
        rich_text=rich_text,
    )
    return environment.get_template("notebook_report.html.jinja")
