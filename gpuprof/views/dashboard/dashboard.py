"""Tabs over one Report. The first is built at once, each other when it is opened: the dashboard appears fast."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets

from gpuprof.views.dashboard import fragments, tabs
from gpuprof.views.dashboard.ask import Ask
from gpuprof.views.dashboard.compare import Compare
from gpuprof.views.dashboard.export import export
from gpuprof.views.live.place import NO_WIDGETS
from gpuprof.views.sections.registry import sections_of
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.widget_lifecycle import EndsQuietly, close_all

if TYPE_CHECKING:
    from gpuprof.report import Report
    from gpuprof.views.timeline.widget import TimelineWidget

BUILDING = "<p class='gpuprof-note'>Building this tab; while a cell runs, it waits for the cell.</p>"
FINDINGS, TIMELINE = "findings", "timeline"
# the sections that stand before the timeline
_BEFORE = ("where", "lines")

Build = Callable[[], ipywidgets.Widget]


class Dashboard(EndsQuietly, ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """The budget bar, and tabs: findings, hot spots, lines, timeline, every other section that is known of the run, and
    a comparison with the runs saved next to `folder`, that of this run where it was saved. `render_page` makes the page
    that is exported; without it nothing is. `below_card`: the run's card stands above it and says verdict and bar."""

    def __init__(
        self,
        report: Report,
        folder: Path | None = None,
        *,
        render_page: Callable[[Report], str] | None = None,
        below_card: bool = False,
    ):
        self._report: Report | None = report
        self._folder = folder
        self._render_page = render_page
        self._timeline: TimelineWidget | None = None
        self._compare: Compare | None = None
        self._below_card = below_card
        self._keys, titles, builders = zip(*self._contents(report), strict=True)
        self._builders: dict[int, Build] = dict(enumerate(builders))
        # one for all tabs: each widget takes the front end three messages
        self._building = ipywidgets.HTML(BUILDING)
        pages = [ipywidgets.VBox([self._building]) for _ in titles]
        self.tab = ipywidgets.Tab(children=pages, titles=titles, selected_index=0)
        self.head = HtmlWidget(self._head(report), self._asked)
        super().__init__([self.head, self.tab])
        self._open(0)
        self.tab.observe(lambda change: self._open(change["new"]), names="selected_index")
        self.add_class("gpuprof-dashboard")

    def __repr__(self) -> str:
        # all that an untrusted or unattended notebook shows in place of a widget
        return NO_WIDGETS

    def show(self, ranges_ns: tuple[tuple[int, int], ...]) -> None:
        """Open the timeline at these ranges (ns on the trace's clock)."""
        self.open_tab(TIMELINE)
        if self._timeline is not None:
            self._timeline.focus(ranges_ns)

    def open_tab(self, key: str) -> None:
        """Open the tab of this key: `findings`, `timeline`, or that of a section; the first where there is none."""
        self.tab.selected_index = self._keys.index(key) if key in self._keys else 0

    def refresh(self, report: Report) -> None:
        """The same run with more measured of it: its findings are shown anew."""
        if self._report is None:  # closed
            return
        self._report = report
        self._fill(self._keys.index(FINDINGS), self._findings(report))

    def close(self) -> None:
        """Take it away with every widget in it, and let go of the run."""
        close_all(self)

    def close_alone(self) -> None:
        """Close the box and let go of the run; what is in it is closed by who closes it all."""
        self._report = self._timeline = self._compare = None
        self._builders = {}
        close_all(self._building)
        super().close()

    def _head(self, report: Report) -> str:
        exports = self._render_page is not None
        if not self._below_card:
            return fragments.head(report, exports=exports)
        return fragments.export_link() if exports else ""

    def _contents(self, report: Report) -> list[tuple[str, str, Build]]:
        found = len(report.findings)
        sections = [(each.key, each.title, partial(tabs.section, report, each)) for each in sections_of(report)]
        return [
            (FINDINGS, f"Findings ({found})" if found else "Findings", self._findings(report)),
            *(each for each in sections if each[0] in _BEFORE),
            (TIMELINE, "Timeline", partial(self._build_timeline, report)),
            *(each for each in sections if each[0] not in _BEFORE),
            ("ask", "What if", partial(Ask, report)),
            ("compare", "Compare", partial(self._build_compare, report)),
        ]

    def _findings(self, report: Report) -> Build:
        return partial(tabs.findings, report, self.show, below_card=self._below_card)

    def _open(self, index: int | None) -> None:
        if index is None:
            return
        build = self._builders.pop(index, None)
        if build is not None:
            self._fill(index, build)
        elif self._compare is not None and self._compare in self.tab.children[index].children:
            self._compare.look()

    def _fill(self, index: int, build: Build) -> None:
        self._builders.pop(index, None)
        try:
            content = build()
        # the boundary between tabs: one that fails must not take the others with it
        except Exception as error:  # noqa: BLE001
            content = HtmlWidget(fragments.fragment("failed", error=error))
        page = self.tab.children[index]
        before, page.children = page.children, (content,)
        for each in before:
            if each is not self._building:
                close_all(each)

    def _build_timeline(self, report: Report) -> ipywidgets.Widget:
        if not report.trace.span_ns:
            return HtmlWidget(fragments.fragment("note", text=str(report.verdict)))
        from gpuprof.views.timeline.widget import TimelineWidget

        self._timeline = TimelineWidget(report.trace, report=report)
        return self._timeline

    def _build_compare(self, report: Report) -> ipywidgets.Widget:
        self._compare = Compare(report, self._folder)
        return self._compare

    def _asked(self, what: str) -> str:
        if what != "export" or self._report is None or self._render_page is None:
            return ""
        number = self._report.trace.context.run_number
        try:
            return f"Wrote {export(self._render_page(self._report), number, self._folder)}"
        except OSError as error:
            return f"The report could not be written: {error.strerror or error}"
