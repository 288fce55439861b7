"""The card of a run in a live notebook. Its buttons act; the dashboard below it is built when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets

from gpuprof.views.dashboard import fragments
from gpuprof.views.live.place import NO_WIDGETS
from gpuprof.views.run_card import RunCard
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.widget_lifecycle import EndsQuietly, close_all

if TYPE_CHECKING:
    from gpuprof.report import Comparison, Report
    from gpuprof.views.dashboard.dashboard import Dashboard


@dataclass(frozen=True)
class Insertion:
    """A new cell with `code` below this one, which runs where `run` says so; empty code: none. `said` is shown."""

    code: str
    said: str
    run: bool = False


Actions = Mapping[str, Callable[[int], Insertion]]


class LiveCard(EndsQuietly, ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """`actions` are what the buttons `fix` and `try` do with the number of a finding; without one there is no button.

    `folder`, `render_page`: see Dashboard. `comparison` is with an earlier run, `unsaved` why the run was not saved.
    """

    def __init__(
        self,
        report: Report,
        folder: Path | None = None,
        *,
        actions: Actions,
        render_page: Callable[[Report], str] | None = None,
        comparison: Comparison | None = None,
        unsaved: str | None = None,
    ):
        self._report: Report | None = report
        self._folder, self._render_page = folder, render_page
        self._actions: Actions = actions
        self._more = (comparison.sentence() if comparison else "", unsaved or "")
        self.dashboard: Dashboard | None = None
        self.card = HtmlWidget(self._html(report, unfolded=False), self._asked)
        self.below = ipywidgets.VBox()
        super().__init__([self.card, self.below])
        self.add_class("gpuprof-live-card")

    def __repr__(self) -> str:
        # all that an untrusted or unattended notebook shows in place of a widget
        return NO_WIDGETS

    def open_tab(self, key: str) -> None:
        """Unfold the dashboard at this tab."""
        if self._report is None:  # closed
            return
        if self.dashboard is None:
            from gpuprof.views.dashboard.dashboard import Dashboard

            self.dashboard = Dashboard(self._report, self._folder, render_page=self._render_page, below_card=True)
        self.dashboard.open_tab(key)
        if not self.below.children:
            self.below.children = (self.dashboard,)
            self.card.html = self._html(self._report, unfolded=True)

    def fold(self) -> None:
        """Take the dashboard from the screen; it stays as it is."""
        self.below.children = ()
        if self._report is not None:
            self.card.html = self._html(self._report, unfolded=False)

    def refresh(self, report: Report) -> None:
        """The same run with more measured of it."""
        if self._report is None:  # closed
            return
        self._report = report
        self.card.html = self._html(report, unfolded=bool(self.below.children))
        if self.dashboard is not None:
            self.dashboard.refresh(report)

    def close(self) -> None:
        """Take it away with every widget in it, and let go of the run."""
        dashboard, self.dashboard = self.dashboard, None
        if dashboard is not None:  # also where it is folded
            close_all(dashboard)
        close_all(self)

    def close_alone(self) -> None:
        """Close the box and let go of the run; what is in it is closed by who closes it all."""
        dashboard, self.dashboard = self.dashboard, None
        if dashboard is not None and not self.below.children:
            close_all(dashboard)
        self._report = None
        self._actions = {}
        super().close()

    def _html(self, report: Report, *, unfolded: bool) -> str:
        compared, unsaved = self._more
        return fragments.live_card(
            RunCard.of(report),
            report,
            actions=tuple(self._actions),
            unfolded=unfolded,
            compared=compared,
            unsaved=unsaved,
        )

    def _asked(self, what: str) -> str:
        verb, _, about = what.partition(" ")
        if verb == "open":
            if about == "details" and self.below.children:
                self.fold()
            else:
                self.open_tab("findings" if about == "details" else about)
        elif verb == "show" and self._report is not None:
            self.open_tab("findings")
            ranges = self._report.findings[int(about) - 1].where.ranges_ns
            if ranges and self.dashboard is not None:
                self.dashboard.show(ranges)
        elif verb in self._actions:
            made = self._actions[verb](int(about))
            if made.code:
                self.card.send({"insert": made.code, "run": made.run})
            return made.said
        return ""
