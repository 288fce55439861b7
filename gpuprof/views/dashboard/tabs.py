"""What each tab of the dashboard holds: tables as HTML, charts in frames of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from gpuprof.analyses.device_health import DeviceHealth
from gpuprof.analyses.kernels import Kernels
from gpuprof.analyses.operators import Operators
from gpuprof.analyses.source_lines import SourceLines
from gpuprof.analyses.step_time import StepTime
from gpuprof.rules.finding import Finding
from gpuprof.rules.registry import all_rules
from gpuprof.views import line_gains
from gpuprof.views.charts.plots import all_charts, draw
from gpuprof.views.charts.style import only_words
from gpuprof.views.dashboard import tables
from gpuprof.views.dashboard.chart_frame import ChartFrame
from gpuprof.views.dashboard.fragments import fragment
from gpuprof.views.energy_rows import energy_note, energy_rows
from gpuprof.views.source_rows import listings, meaning
from gpuprof.whatif.line_profile import LineProfile

if TYPE_CHECKING:
    from gpuprof.report import Report

Show = Callable[[tuple[tuple[int, int], ...]], None]


def findings(report: Report, show: Show) -> ipywidgets.Widget:
    """A card per finding with a way to its place in the timeline; then every rule with its thresholds."""
    cards = [_card(report, number, found, show) for number, found in enumerate(report.findings, 1)]
    if not cards:
        cards = [ipywidgets.HTML(fragment("note", report, text=str(report.verdict)))]
    return ipywidgets.VBox([*cards, ipywidgets.HTML(fragment("rules", report, rules=all_rules()))])


def _card(report: Report, number: int, found: Finding, show: Show) -> ipywidgets.Widget:
    card = ipywidgets.HTML(fragment("finding", report, number=number, finding=found))
    if not found.where.ranges_ns:
        return card
    button = ipywidgets.Button(description="show in timeline", icon="arrow-right", layout={"width": "170px"})
    button.on_click(lambda _: show(found.where.ranges_ns))
    return ipywidgets.VBox([card, button])


def transfers(report: Report) -> ipywidgets.Widget:
    """Totals by direction, size against bandwidth, and the copies that cost most."""
    totals = tables.copy_totals(report)
    if not totals:
        return _chart(report, "transfers")
    longest = ipywidgets.HTML(fragment("longest_copies", report, copies=tables.longest_copies(report)))
    return ipywidgets.VBox(
        [ipywidgets.HTML(fragment("copies", report, totals=totals)), _chart(report, "transfers"), longest]
    )


def memory(report: Report) -> ipywidgets.Widget:
    """The curve, what the peak is made of, then peaks and limits of every device and of the host."""
    parts: list[Any] = [_chart(report, "memory")]
    for place, rows in tables.composition_rows(report):
        names = [f"at the peak of the {place}" if place == "host" else f"at the peak of {place}", "share"]
        parts.append(ipywidgets.HTML(fragment("memory", report, names=names, rows=rows)))
    uses = tables.memory_uses(report)
    if uses:
        rows = tables.memory_rows(report, uses)
        table = fragment("memory", report, names=[name for name, _ in uses], rows=rows)
        parts.append(ipywidgets.HTML(table))
    return ipywidgets.VBox(parts) if len(parts) > 1 else parts[0]


def lines(report: Report) -> ipywidgets.Widget:
    """The source with the time of every line."""
    found = report.results.get(SourceLines)
    shown = listings(report.results, report.findings)
    profile = report.results.get(LineProfile)
    note = " ".join(each for each in (meaning(found), line_gains.meaning(profile)) if each)
    values = {"listings": shown, "on_device": bool(found.device_ns), "note": note}
    return ipywidgets.HTML(fragment("source", report, profile=profile, gains=line_gains, **values))


def operators(report: Report) -> ipywidgets.Widget:
    """Kernels by total time and operators by self time."""
    parts: list[Any] = []
    if report.results.get(Kernels).count:
        parts.append(_chart(report, "kernels"))
    uses = report.results.get(Operators).uses
    if uses:
        parts.append(ipywidgets.HTML(fragment("operators", report, uses=uses)))
    return ipywidgets.VBox(parts)


def steps(report: Report) -> ipywidgets.Widget:
    """How long every step took."""
    return _chart(report, "steps")


def device(report: Report) -> ipywidgets.Widget:
    """The energy of the steps, where it is known, and the driver's readings over time."""
    chart, rows = _chart(report, "device"), energy_rows(report.results)
    if not rows:
        return chart
    table = fragment("memory", report, names=["energy"], rows=[(name, [text]) for name, text, _ in rows])
    note = fragment("note", report, text=energy_note(report.results))
    return ipywidgets.VBox([ipywidgets.HTML(table), ipywidgets.HTML(note), chart])


def has_lines(report: Report) -> bool:
    """Whether any line was followed."""
    return bool(report.results.get(SourceLines).table)


def has_operators(report: Report) -> bool:
    """Whether there are kernels or operators to list."""
    return bool(report.results.get(Kernels).count or report.results.get(Operators).uses)


def has_steps(report: Report) -> bool:
    """Whether there is more than one step to compare."""
    return report.results.get(StepTime).count > 1


def has_samples(report: Report) -> bool:
    """Whether the driver was read."""
    return bool(report.results.get(DeviceHealth).devices)


def _chart(report: Report, name: str) -> ipywidgets.Widget:
    chart = draw(report, name)
    text = only_words(chart)
    if text is not None:
        return ipywidgets.HTML(fragment("note", report, text=text))
    return ChartFrame.of(chart, all_charts()[name].title)
