"""Tabs over one Report. The first is built at once, each other when it is opened: the dashboard appears fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from gpuprof.views.dashboard import tabs
from gpuprof.views.dashboard.fragments import fragment, style

if TYPE_CHECKING:
    from gpuprof.report import Report
    from gpuprof.views.timeline.widget import TimelineWidget

BUILDING = "<p class='gpuprof-note'>Building this tab; while a cell runs, it waits for the cell.</p>"


class Dashboard(ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """The budget bar, and tabs: timeline, findings, transfers, memory; lines, kernels, steps, device where recorded."""

    def __init__(self, report: Report):
        self._report = report
        self._timeline: TimelineWidget | None = None
        self._builders: dict[int, Callable[[], ipywidgets.Widget]] = {}
        titles, builders = zip(*self._contents(), strict=True)
        pages = [ipywidgets.VBox([ipywidgets.HTML(BUILDING)]) for _ in titles]
        self.tab = ipywidgets.Tab(children=pages, titles=titles, selected_index=0)
        self._builders = dict(enumerate(builders))
        self._open(0)
        self.tab.observe(lambda change: self._open(change["new"]), names="selected_index")
        head = ipywidgets.HTML(style() + fragment("head", report))
        super().__init__([head, self.tab])
        self.add_class("gpuprof-dashboard")

    def __repr__(self) -> str:
        # all that an untrusted or unattended notebook shows in place of a widget
        return "gpuprof dashboard: it needs a live kernel; the report below holds its figures."

    def _contents(self) -> list[tuple[str, Callable[[], ipywidgets.Widget]]]:
        report, found = self._report, len(self._report.findings)
        optional = [
            ("Lines", tabs.has_lines, tabs.lines),
            ("Kernels & operators", tabs.has_operators, tabs.operators),
            ("Steps", tabs.has_steps, tabs.steps),
            ("Device", tabs.has_samples, tabs.device),
        ]
        return [
            ("Timeline", self._build_timeline),
            (f"Findings ({found})" if found else "Findings", lambda: tabs.findings(report, self.show)),
            ("Transfers", lambda: tabs.transfers(report)),
            ("Memory", lambda: tabs.memory(report)),
            *((title, _bound(build, report)) for title, known, build in optional if known(report)),
        ]

    def show(self, ranges_ns: tuple[tuple[int, int], ...]) -> None:
        """Open the timeline at these ranges (ns on the trace's clock)."""
        self.tab.selected_index = 0
        if self._timeline is not None:
            self._timeline.focus(ranges_ns)

    def _open(self, index: int | None) -> None:
        build = self._builders.pop(index, None) if index is not None else None
        if build is None or index is None:
            return
        try:
            content = build()
        # the boundary between tabs: one that fails must not take the others with it
        except Exception as error:  # noqa: BLE001
            content = ipywidgets.HTML(fragment("failed", self._report, error=error))
        self.tab.children[index].children = (content,)

    def _build_timeline(self) -> ipywidgets.Widget:
        if not self._report.trace.span_ns:
            return ipywidgets.HTML(fragment("note", self._report, text=str(self._report.verdict)))
        from gpuprof.views.timeline.widget import TimelineWidget

        self._timeline = TimelineWidget(self._report.trace, report=self._report)
        return self._timeline


def _bound(build: Callable[[Report], Any], report: Report) -> Callable[[], Any]:
    return lambda: build(report)
