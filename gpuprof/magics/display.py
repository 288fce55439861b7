"""Shows a run under its cell: its card, in a live front end as a widget, which stands in the place of the saved one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpuprof.magics.messages import describe, notice

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

    from gpuprof.magics.live import LiveOutput
    from gpuprof.magics.options import CellOptions
    from gpuprof.model.context import Cell
    from gpuprof.report import Comparison
    from gpuprof.run import Run

T = TypeVar("T")


def open_live(shell: Any, options: CellOptions, cell: Cell) -> LiveOutput | None:
    """The output of the status bar, shown before the cell runs; None where there is to be none.

    The card of an earlier run of this cell is closed.
    """
    if not _wants_widget(shell, options):
        return None

    def opened() -> LiveOutput:
        from gpuprof.magics.live import LiveOutput

        live = LiveOutput(cell)
        live.open()
        return live

    return _attempt("no live view", opened)


class Showing:
    """A run being shown under its cell: first the card, or the verdict as text, then everything the options ask for.

    What fails is said in one line; the rest is still shown. `live` gives way to the card. `earlier` is the run that was
    named; without one the run is compared with the previous one of the same cell.
    """

    def __init__(
        self, shell: Any, run: Run, options: CellOptions, earlier: Run | Path | None, live: LiveOutput | None = None
    ):
        self._run, self._options, self._live = run, options, live
        self._named = earlier
        self._choice = "none" if options.quiet else options.display
        self._widget = _wants_widget(shell, options)
        self._reports = self._choice in ("auto", "report", "text")
        self._text_only = self._choice == "text" or not _is_notebook(shell)
        self._compared: Comparison | None = None
        self._place: DisplayHandle | None = None

    def verdict(self) -> None:
        """Show the card; without widgets, the text of the report until all of it is made."""
        from gpuprof.views.run_card import no_work_words

        run, options = self._run, self._options
        self._compared = _attempt("no comparison", lambda: _compared(run, options, self._named))
        if self._widget and not (self._reports and no_work_words(run.report_data)):
            _attempt("no card", self._publish_card)
        elif self._reports:
            _attempt("no report", self._publish_text)

    def rest(self) -> None:
        """Show the whole report, and write the HTML report."""
        run, options = self._run, self._options
        if options.report is not None:
            written = _attempt("no HTML report", lambda: run.write_html(options.report or ""))
            if written is not None and not options.quiet:
                sys.stdout.write(f"gpuprof: wrote {written}\n")
        if self._reports and not self._text_only:
            _attempt("no formatted report", self._publish_bundle)
        if run.unsaved is not None and self._choice not in ("auto", "report"):
            notice(run.unsaved)

    def again(self) -> None:
        """Show the whole report anew, in its place: more was measured since. Elsewhere each line was said already."""
        if self._place is not None:
            _attempt("no formatted report", self._publish_bundle)

    def _publish_card(self) -> None:
        from IPython.display import display

        from gpuprof.magics.card_actions import card_actions

        card = self._run._live_card(card_actions(self._run), comparison=self._compared)
        if self._live is None:
            display(card)
        else:
            self._live.become(card)

    def _publish_text(self) -> None:
        from IPython.display import display

        from gpuprof.views.run_card import no_work_words
        from gpuprof.views.text import render_text

        report = self._run.report_data
        line = no_work_words(report)
        text = f"{line}\n" if line else render_text(report, comparison=self._compared, whole=self._named is not None)
        # where it is replaced later, before the kernel is idle: executed notebooks keep what came until then
        self._place = display({"text/plain": text}, raw=True, display_id=not self._text_only)

    def _publish_bundle(self) -> None:
        from IPython.display import display

        bundle = self._run._display_bundle(
            comparison=self._compared, whole=self._named is not None, embed=self._options.embed
        )
        if self._place is None:
            self._place = display(bundle, raw=True, display_id=True)
        else:
            self._place.update(bundle, raw=True)


def has_live_widgets(shell: Any) -> bool:
    """Whether somebody sits in front of this kernel: only then can a widget live.

    nbclient, papermill and nbconvert execute without standard input; a widget saved by them would be dead.
    """
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))


def _is_notebook(shell: Any) -> bool:
    return getattr(shell, "kernel", None) is not None


def _wants_widget(shell: Any, options: CellOptions) -> bool:
    choice = "none" if options.quiet else options.display
    return choice == "widget" or (choice == "auto" and has_live_widgets(shell))


def _compared(run: Run, options: CellOptions, earlier: Run | Path | None) -> Comparison | None:
    from gpuprof.profiling.previous_run import previous_of

    if earlier is None and not options.no_compare and not options.quiet:
        earlier = previous_of(run)
    return None if earlier is None else run.compare(earlier)


def _attempt(otherwise: str, action: Callable[[], T]) -> T | None:
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - a failure of one output must not cost the others
        notice(f"{otherwise}: {describe(error)}")
        return None
