"""What each tab of the dashboard holds: the page's tables, and charts in frames of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import ipywidgets

from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.rules.registry import all_rules
from gpuprof.views.charts.plots import all_charts, draw
from gpuprof.views.charts.style import only_words
from gpuprof.views.dashboard import fragments
from gpuprof.views.dashboard.chart_frame import ChartFrame
from gpuprof.views.dashboard.copies import longest_copies
from gpuprof.views.html import device as device_section
from gpuprof.views.html import environment as environment_section
from gpuprof.views.html import kernels as kernels_section
from gpuprof.views.html import lanes_table, lines_tab
from gpuprof.views.html import memory as memory_section
from gpuprof.views.html import transfers as transfers_section
from gpuprof.views.html.blocks import Block, CurveBlock, Section, Sentence
from gpuprof.views.tables.html_widget import HtmlWidget

if TYPE_CHECKING:
    from gpuprof.report import Report

Show = Callable[[tuple[tuple[int, int], ...]], None]


def findings(report: Report, show: Show) -> ipywidgets.Widget:
    """A card per finding with a way to its place in the timeline; then every rule with its thresholds."""

    def asked(what: str) -> str:
        show(report.findings[int(what.removeprefix("show ")) - 1].where.ranges_ns)
        return ""

    cards = fragments.fragment("findings", report=report)
    return HtmlWidget(cards + fragments.fragment("rules", report=report, rules=all_rules()), asked)


def transfers(report: Report) -> ipywidgets.Widget:
    """Totals by direction, size against bandwidth, copies by size, and the copies that cost most."""
    if not len(report.results.get(Copies).table):
        return _chart(report, "transfers")
    totals, *groups = transfers_section.section(report.results).blocks
    longest = longest_copies(report)
    below = [*groups, *([longest] if longest else [])]
    return ipywidgets.VBox([_html_widget([totals]), _chart(report, "transfers"), _html_widget(below)])


def memory(report: Report) -> ipywidgets.Widget:
    """The curve, what the peak is made of, then peaks and limits of every device and of the host."""
    return _charted(_chart(report, "memory"), memory_section.section(report.results))


def lines(report: Report) -> ipywidgets.Widget:
    """The source with the time of every line."""
    return _html_widget(lines_tab.section(report, with_source=True).blocks)


def operators(report: Report) -> ipywidgets.Widget:
    """Kernels by total time and operators by self time."""
    section = kernels_section.section(report.results)
    if not report.results.get(Kernels).count:
        return _html_widget(section.blocks[::-1])
    return _charted(_chart(report, "kernels"), section)


def steps(report: Report) -> ipywidgets.Widget:
    """How long every step took."""
    return ipywidgets.VBox([_chart(report, "steps"), _html_widget(lanes_table.steps(report.results))])


def device(report: Report) -> ipywidgets.Widget:
    """What the device did, what its driver reported, and its readings over time."""
    return _charted(_chart(report, "device"), device_section.section(report.results))


def environment(report: Report) -> ipywidgets.Widget:
    """The machine, the flags, the loaders and the optimizers."""
    return _html_widget(environment_section.section(report.trace).blocks)


def has_lines(report: Report) -> bool:
    """Whether any line was followed."""
    return bool(report.results.get(LineCosts).table)


def has_operators(report: Report) -> bool:
    """Whether there are kernels or operators to list."""
    return bool(report.results.get(Kernels).count or report.results.get(Operators).uses)


def has_steps(report: Report) -> bool:
    """Whether there is more than one step to compare."""
    return report.results.get(StepTime).count > 1


def has_samples(report: Report) -> bool:
    """Whether the driver was read."""
    return bool(report.results.get(DeviceHealth).devices)


def _charted(chart: ipywidgets.Widget, section: Section) -> ipywidgets.Widget:
    """A chart and its tables; the section alone where both would only say that nothing was recorded."""
    nothing = isinstance(chart, HtmlWidget) and all(isinstance(block, Sentence) for block in section.blocks)
    return _html_widget(section.blocks) if nothing else ipywidgets.VBox([chart, _html_widget(section.blocks)])


def _html_widget(blocks: Iterable[Block]) -> HtmlWidget:
    """Tables and sentences; a curve of the page is drawn as a chart here."""
    return HtmlWidget(fragments.blocks([block for block in blocks if not isinstance(block, CurveBlock)]))


def _chart(report: Report, name: str) -> ipywidgets.Widget:
    chart = draw(report, name)
    text = only_words(chart)
    if text is not None:
        return HtmlWidget(fragments.fragment("note", text=text))
    return ChartFrame.of(chart, all_charts()[name].title)
