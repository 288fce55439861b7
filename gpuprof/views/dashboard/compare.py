"""The Compare tab: this run against one that is chosen among the saved ones."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets

from gpuprof.errors import GpuprofError
from gpuprof.model.run_store import runs_folder
from gpuprof.report import Comparison, Summary
from gpuprof.report.cell_identity import previous_among
from gpuprof.report.saved import RunOnDisk
from gpuprof.report.summary import read_summary
from gpuprof.units import NS_PER_S, duration, plural
from gpuprof.views.dashboard import compared, fragments
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.widget_lifecycle import EndsQuietly

if TYPE_CHECKING:
    from gpuprof.report import Report

_NONE_YET = "There is no other saved run to compare with yet. Run the cell again, changed or not, and look here."
_A_FILE = (
    "This is a trace file, and no profiled run was saved here to compare it with. "
    "`run.compare(other)` or `gpuprof compare BEFORE AFTER` sets two traces side by side."
)
_CHOOSE = "No earlier run of this cell was found. Choose any other run above."


class Compare(EndsQuietly, ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """A picker of the saved runs, the previous one of the same cell chosen at first, and the comparison below it."""

    def __init__(self, report: Report, folder: Path | None):
        self._report: Report | None = report
        self._folder = folder
        self._summary: Summary | None = None
        self.picker = ipywidgets.Dropdown(
            description="compare with",
            layout={"width": "auto", "max_width": "640px"},
            style={"description_width": "initial"},
        )
        self.html_widget = HtmlWidget("")
        super().__init__([self.picker, self.html_widget])
        self.picker.observe(self._choose, names="value")
        self.look()

    def look(self) -> None:
        """List the runs that are saved by now; what was chosen stays chosen."""
        chosen: Path | None = self.picker.value
        known = {folder for _, folder in self.picker.options}
        if self._report is None:
            return
        runs = self._others()
        if runs is not None and (not known or {run.folder for run in runs} - known):
            self._list(self._report, runs, chosen)

    def close(self) -> None:
        """Also let go of the run."""
        self._report = None
        super().close()

    def _others(self) -> list[RunOnDisk] | None:
        """The saved runs but this one, newest first; None where they cannot be listed, which is then said."""
        try:
            where = self._folder.parent if self._folder is not None else runs_folder()
            runs, _ = RunOnDisk.all_in(where)
        except OSError as error:
            self._say(f"Saved runs cannot be listed: {error.strerror or error}.")
            return None
        return [run for run in reversed(runs) if run.folder != self._folder]

    def _list(self, report: Report, runs: list[RunOnDisk], chosen: Path | None) -> None:
        cell, created = report.trace.context.cell, report.trace.context.created_ns or time.time_ns()
        previous = previous_among(runs, cell, created) if cell is not None else None
        folder = chosen or (previous.folder if previous else None)
        options: list[tuple[str, Path | None]] = [(label(run, run is previous), run.folder) for run in runs]
        if folder is None:
            options.insert(0, ("choose a run", None))
        self.picker.unobserve(self._choose, "value")  # new options choose their first
        with self.picker.hold_sync():  # as one message
            self.picker.options, self.picker.value = options, folder
        self.picker.observe(self._choose, names="value")
        self.picker.layout.display = None if runs else "none"
        if not runs:
            of_a_file = self._folder is None and report.trace.source.kind == "kineto"
            self._say(_A_FILE if of_a_file else _NONE_YET)
        elif chosen is None:
            self._show(folder)

    def _choose(self, change: Any) -> None:
        self._show(change["new"])

    def _show(self, folder: Path | None) -> None:
        if folder is None or self._report is None:
            self._say(_CHOOSE)
            return
        try:
            if self._summary is None:
                self._summary = Summary.of(self._report)
            comparison = Comparison(before=RunOnDisk.read(folder).summary(), after=self._summary)
            self.html_widget.html = compared.page(comparison)
        except (GpuprofError, OSError) as error:
            self._say(f"That run cannot be compared: {error}")
        # the boundary of the tab: a run of another version may lack anything
        except Exception as error:  # noqa: BLE001
            self._say(f"That run cannot be compared: {type(error).__name__}: {error}")

    def _say(self, words: str) -> None:
        self.html_widget.html = fragments.fragment("note", text=words)


def label(run: RunOnDisk, previous: bool) -> str:
    """`run 3 · train one epoch · 20 Nov 14:02:10 · step 41.0 ms · previous run of this cell`."""
    summary = read_summary(run.folder)
    when = "" if run.created_ns is None else f"{_local(run.created_ns):%d %b %H:%M:%S}"
    step = summary.usual_step_ns if summary else None
    cell = "" if run.cell is None or run.cell.execution_count is None else f"In [{run.cell.execution_count}]"
    parts = (
        f"run {run.number}" if run.number is not None else run.run_id,
        run.name or cell,
        when,
        f"step {duration(step)}" if step is not None else f"cell {duration(run.cell_ns)}" if run.cell_ns else "",
        plural(len(summary.findings), "finding") if summary else "",
        f"raised {run.error}" if run.error else "",
        "previous run of this cell" if previous else "",
    )
    return " · ".join(part for part in parts if part)


def _local(ns: int) -> datetime:
    return datetime.fromtimestamp(ns / NS_PER_S).astimezone()
