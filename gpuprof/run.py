"""A Run: what a person holds after profiling or loading. Every view of one Report, by name."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.ingest.load import load_captured, load_ranks
from gpuprof.model import half_written
from gpuprof.model.kinds import VOCABULARIES
from gpuprof.model.measured import Measured, read_measured, write_measured
from gpuprof.model.trace import Trace
from gpuprof.model.tuned import Tuned, read_tuned, write_tuned
from gpuprof.report import Comparison, Report, Summary
from gpuprof.report.answer import Answer, answer
from gpuprof.report.contract import to_dict
from gpuprof.report.summary import read_summary, write_summary
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.views.text import render_text
from gpuprof.whatif.questions import Question

if TYPE_CHECKING:
    import pandas as pd

    from gpuprof.capture.session.session import Captured
    from gpuprof.views.charts import Plots
    from gpuprof.views.dashboard import Dashboard
    from gpuprof.views.dashboard.live_card import Actions, LiveCard

_OLD_NAMES_GO = "0.3"


class Run:
    """One profiled or loaded run.

    `folder` is where the run is saved, None where it is not; `unsaved` says what could not be saved, and why.
    """

    def __init__(self, trace: Trace | Callable[[], Trace], *, others: Sequence[Trace] = (), folder: Path | None = None):
        """Of a trace, or of a function that reads it when it is first asked for."""
        self._given, self._others = trace, tuple(others)
        self.folder = folder
        self.unsaved: str | None = None
        self._dashboards: weakref.WeakSet[Dashboard | LiveCard] = weakref.WeakSet()

    @cached_property
    def trace(self) -> Trace:
        """What was recorded, as columns. Of a folder of ranks, it and everything told is that of the lowest rank."""
        return self._given if isinstance(self._given, Trace) else self._given()

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of all ranks that were loaded."""
        return (self.trace, *self._others)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a Kineto trace (`*.json`, `*.json.gz`), a memory snapshot, a Recording folder, or a folder of ranks.

        TraceError or RecordingError, with one clear line, where it cannot be read.
        """
        half_written.finish_all()
        first, *others = load_ranks(Path(path))
        folder = Path(path) if first.source.kind == "recording" else None
        return cls(first, others=others, folder=folder)

    @classmethod
    def _from_captured(cls, captured: Captured) -> Self:
        """The Run of what a capture Session brought back, saved or not, packed or not."""
        run = cls(_read(captured), folder=captured.folder)
        run.unsaved = captured.unsaved
        return run

    @classmethod
    def _from_captured_later(cls, captured: Captured) -> Self:
        """The same, its trace read when it is first asked for; GpuprofError then where it cannot be."""
        run = cls(lambda: _read_later(captured), folder=captured.folder)
        run.unsaved = captured.unsaved
        return run

    @cached_property
    def report_data(self) -> Report:
        """What every view shows, as one object: results, findings, time budget, verdict and trust line."""
        ranks = sorted(trace.source.rank for trace in self.traces if trace.source.rank is not None)
        measured = read_measured(self.folder) if self.folder is not None else ()
        return Report.of(self.trace, tuple(ranks), others=self.traces[1:], measured=measured)

    @cached_property
    def summary(self) -> Summary:
        """The few figures by which it is compared with other runs."""
        return Summary.of(self.report_data)

    def _keep_summary(self) -> None:
        """Put the summary beside a saved run, so that later ones need not read it whole to be compared with it."""
        if self.folder is not None and self.folder.is_dir():
            with contextlib.suppress(OSError):  # it only saves time
                write_summary(self.folder, self.summary)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, best first."""
        return self.report_data.findings

    @property
    def abstained(self) -> tuple[Abstention, ...]:
        """Rules that lacked a signal."""
        return self.report_data.abstained

    @property
    def measured(self) -> tuple[Measured, ...]:
        """What `%gputry` measured of the findings, oldest first."""
        return self.report_data.measured

    def _add_measured(self, made: Measured) -> str | None:
        """Keep it, beside the recording too where the run was saved; else why it could not be saved."""
        self.__dict__["report_data"] = dataclasses.replace(self.report_data, measured=(*self.measured, made))
        for dashboard in list(self._dashboards):
            dashboard.refresh(self.report_data)
        if self.folder is None:
            return None
        try:
            write_measured(self.folder, self.measured)
        except OSError as error:
            return f"{self.folder}: what was measured was not saved ({error.strerror})"
        return None

    @cached_property
    def tuned(self) -> Tuned | None:
        """What `%gputune` found for the cell last; None where it was not asked."""
        return read_tuned(self.folder) if self.folder is not None else None

    def _keep_tuned(self, made: Tuned) -> str | None:
        """Keep it, beside the recording too where the run was saved; else why it could not be saved."""
        self.__dict__["tuned"] = made
        if self.folder is None:
            return None
        try:
            write_tuned(self.folder, made)
        except OSError as error:
            return f"{self.folder}: what was found was not saved ({error.strerror})"
        return None

    @property
    def verdict(self) -> str:
        """Where the time went and what to do, in two sentences."""
        return str(self.report_data.verdict)

    def to_dict(self) -> dict[str, Any]:
        """The object of `gpuprof findings --json`."""
        return to_dict(self.report_data)

    def text(self) -> str:
        """The whole verdict as plain text."""
        return render_text(self.report_data)

    def write_html(self, path: Path | str, *, redact: bool = False) -> Path:
        """Write the one-file HTML report and return its path; GpuprofError where it cannot be written.

        `redact` leaves out source code, paths, user and host names.
        """
        from gpuprof.views.html.page import render_page

        target = Path(path)
        page = render_page(self.report_data, redact=redact)
        try:
            target.write_text(page, encoding="utf-8")
        except OSError as error:
            raise GpuprofError(
                f"{target}: the report cannot be written ({error.strerror}); name another file"
            ) from error
        return target

    @property
    def details(self) -> Report:
        """Deprecated: the old name of `report_data`; gpuprof 0.3 removes it."""
        _renamed("Run.details", "Run.report_data")
        return self.report_data

    def report(self, path: Path | str, *, redact: bool = False) -> Path:
        """Deprecated: the old name of `write_html`; gpuprof 0.3 removes it."""
        _renamed("Run.report()", "Run.write_html()")
        return self.write_html(path, redact=redact)

    def compare(self, other: Run | Path | str) -> Comparison:
        """This run against an earlier one: a Run, or a recording's or trace's path; UsageError for anything else."""
        if isinstance(other, Run):
            return Comparison(before=other.summary, after=self.summary)
        if not isinstance(other, (str, Path)):
            raise UsageError(
                f"compare: got {type(other).__name__}; expected a Run, or the path of a recording or trace "
                "(`%gpuhistory` lists the runs with their folders)"
            )
        earlier = read_summary(Path(other)) or Run.load(other).summary
        return Comparison(before=earlier, after=self.summary)

    def whatif(
        self,
        *,
        kernel_time: Mapping[str, float] | None = None,
        without_lines: Sequence[int] = (),
        pinned_copies: bool = False,
        no_waits: bool = False,
        data_ready: bool = False,
        link_speedup: float = 1.0,
    ) -> Answer:
        """What this run would take with some of it faster, or gone; all that is given is simulated together.

        `kernel_time`: by name pattern (`"*gemm*"`) the factor on the time of kernels (of operators where no device was
        recorded), 0.5 for twice as fast. `without_lines`: lines of the cell, 1-based, with all that they call and
        launch. `pinned_copies`: copies to the device from pinned memory, which the host does not wait for. `no_waits`:
        the host never waits for the device. `data_ready`: every batch is there when it is asked for. `link_speedup`:
        collectives are that many times as fast. UsageError, with one line, for what this run cannot be asked.
        """
        asked = Question(kernel_time or {}, without_lines, pinned_copies, no_waits, data_ready, link_speedup)
        return answer(self.report_data.results, asked)

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Every table of the Trace as pandas DataFrames, by name, with names spelt out; made on access."""
        return _Frames(self.trace)

    @property
    def plots(self) -> Plots:
        """Pictures as HoloViews objects, to be composed further, as `run.plots.memory()` and others."""
        from gpuprof.views.charts import Plots

        return Plots(self.report_data)

    def widget(self) -> Any:
        """The ipywidgets dashboard; `close()` takes it away with all that it holds."""
        from gpuprof.views.dashboard import Dashboard
        from gpuprof.views.html.page import render_page

        dashboard = Dashboard(self.report_data, self.folder, render_page=render_page)
        self._dashboards.add(dashboard)
        return dashboard

    def _live_card(self, actions: Actions, *, comparison: Comparison | None = None) -> LiveCard:
        """The card as a widget, with the dashboard below it on request; `actions` are what its buttons do."""
        from gpuprof.views.dashboard.live_card import LiveCard
        from gpuprof.views.html.page import render_page

        card = LiveCard(
            self.report_data,
            self.folder,
            actions=actions,
            render_page=render_page,
            comparison=comparison,
            unsaved=self.unsaved,
        )
        self._dashboards.add(card)
        return card

    def _display_bundle(
        self, *, comparison: Comparison | None = None, whole: bool = False, embed: bool = False
    ) -> dict[str, str]:
        """The report as a mime bundle without a widget: `text/plain` and `text/html`.

        `comparison` is with an earlier run; `whole`: its tables are part of the plain text too. `embed`: with the
        interactive page in it.
        """
        from gpuprof.views.notebook_report import render_bundle

        return render_bundle(self.report_data, comparison=comparison, whole=whole, unsaved=self.unsaved, embed=embed)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._display_bundle()

    def __repr__(self) -> str:
        return f"<gpuprof.Run {self.report_data.title}: {self.verdict}>"


def _read(captured: Captured) -> Trace:
    trace, packing = load_captured(captured), captured.packing
    odd = trace.source.repaired or not trace.source.kernels_saved
    if odd and packing is not None and packing.finish() is None:
        # names that are not valid JSON, which packing mends
        return load_captured(dataclasses.replace(captured, kineto=packing.packed))
    return trace


def _read_later(captured: Captured) -> Trace:
    if captured.packing is not None:
        captured = dataclasses.replace(captured, kineto=captured.packing.readable)
    try:
        return _read(captured)
    except Exception as failure:  # the block ran long ago: whatever it is, one line says whose fault it was
        raise GpuprofError(f"this run cannot be read: {type(failure).__name__}: {failure}") from failure


def _renamed(old: str, new: str) -> None:
    # 1 is this function, 2 the old name, 3 the line that used it
    warnings.warn(f"{old} is now {new}; gpuprof {_OLD_NAMES_GO} removes the old name", DeprecationWarning, stacklevel=3)


class _Frames(Mapping[str, "pd.DataFrame"]):
    def __init__(self, trace: Trace):
        self._trace = trace

    def __getitem__(self, name: str) -> pd.DataFrame:
        import pandas as pd

        if name not in self._trace.tables:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(self._trace.tables)}")
        table = self._trace.tables[name]
        frame = table.to_pandas()
        for column in table.schema.columns:
            if column.unit == "index of names":
                texts = [self._trace.names[i] if i >= 0 else None for i in table[column.name]]
                frame[column.name] = texts
            elif column.unit in VOCABULARIES:
                words = {int(member): member.name.lower() for member in VOCABULARIES[column.unit]}
                frame[column.name] = pd.Series(table[column.name]).map(words).astype("category")
        return frame

    def __iter__(self) -> Any:
        return iter(self._trace.tables)

    def __len__(self) -> int:
        return len(self._trace.tables)
