"""What the tabs of the dashboard hold: the findings, and the sections with charts in frames of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets

from gpuprof.views.blocks import CurveBlock
from gpuprof.views.charts.plots import all_charts, draw
from gpuprof.views.charts.style import only_words
from gpuprof.views.dashboard import fragments
from gpuprof.views.dashboard.chart_frame import ChartFrame
from gpuprof.views.sections.section import Section
from gpuprof.views.tables.html_widget import HtmlWidget

if TYPE_CHECKING:
    from gpuprof.report import Report

Show = Callable[[tuple[tuple[int, int], ...]], None]


def findings(report: Report, show: Show, *, below_card: bool = False) -> ipywidgets.Widget:
    """A card per finding with a way to its place in the timeline; then every rule with its thresholds."""

    def asked(what: str) -> str:
        show(report.findings[int(what.removeprefix("show ")) - 1].where.ranges_ns)
        return ""

    return HtmlWidget(fragments.findings(report, below_card=below_card), asked)


def section(report: Report, shown: Section) -> ipywidgets.Widget:
    """The section's blocks; below its chart, and then without curves, where it has one that has anything to draw."""
    blocks, chart = shown.blocks(report), _chart(report, shown.chart)
    if chart is None:
        return HtmlWidget(fragments.section(blocks))
    rest = [block for block in blocks if not isinstance(block, CurveBlock)]
    return ipywidgets.VBox([chart, HtmlWidget(fragments.section(rest))])


def _chart(report: Report, name: str | None) -> ChartFrame | None:
    if name is None:
        return None
    drawn = draw(report, name)
    # the blocks say it, too
    return None if only_words(drawn) is not None else ChartFrame.of(drawn, all_charts()[name].title)
