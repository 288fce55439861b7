"""Shows a run under its cell: the report as one output, and in a live front end the dashboard before it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpuprof.magics.messages import describe, notice

if TYPE_CHECKING:
    from gpuprof.magics.live import LiveOutput
    from gpuprof.magics.options import CellOptions
    from gpuprof.model.context import Cell
    from gpuprof.report import Comparison
    from gpuprof.run import Run

T = TypeVar("T")


def open_live(shell: Any, options: CellOptions, cell: Cell) -> LiveOutput | None:
    """The output in which the dashboard will stand, shown before the cell runs; None where there is to be none.

    The dashboard of an earlier run of this cell is closed.
    """
    if not _wants_widget(shell, options):
        return None

    def opened() -> LiveOutput:
        from gpuprof.magics.live import LiveOutput

        live = LiveOutput(cell)
        live.open()
        return live

    return _attempt("no live view", opened)


def show(
    shell: Any, run: Run, options: CellOptions, earlier: Run | Path | None, live: LiveOutput | None = None
) -> None:
    """Write and show what the options ask for. What fails is said in one line; the rest is still shown.

    `live` becomes the dashboard. `earlier` is the run that was named; without one the run is compared with the previous
    one of the same cell.
    """
    asked = earlier is not None
    compared = _attempt("no comparison", lambda: _compared(run, options, earlier))
    if options.report is not None:
        written = _attempt("no HTML report", lambda: run.write_html(options.report or ""))
        if written is not None and not options.quiet:
            sys.stdout.write(f"gpuprof: wrote {written}\n")
    choice = "none" if options.quiet else options.display
    if _wants_widget(shell, options):
        _attempt("no dashboard", lambda: _publish_widget(run, live))
    if choice in ("auto", "report", "text"):
        plain_only = choice == "text" or not _is_notebook(shell)
        _attempt("no report", lambda: _publish_report(run, compared, plain_only=plain_only, whole=asked))
    if run.unsaved is not None and choice not in ("auto", "report"):
        notice(run.unsaved)


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


def _publish_widget(run: Run, live: LiveOutput | None) -> None:
    from IPython.display import display

    if live is None:
        display(run.widget())
    else:
        live.become(run)


def _compared(run: Run, options: CellOptions, earlier: Run | Path | None) -> Comparison | None:
    from gpuprof.profiling.previous_run import previous_of

    if earlier is None and not options.no_compare and not options.quiet:
        earlier = previous_of(run)
    return None if earlier is None else run.compare(earlier)


def _publish_report(run: Run, compared: Comparison | None, *, plain_only: bool, whole: bool) -> None:
    from IPython.display import display

    if not plain_only:
        bundle = _attempt("no formatted report", lambda: run._display_bundle(comparison=compared, whole=whole))
        if bundle is not None:
            display(bundle, raw=True)
            return
    display({"text/plain": _text(run, compared, whole=whole)}, raw=True)


def _text(run: Run, compared: Comparison | None, *, whole: bool) -> str:
    from gpuprof.views.text import render_text

    return render_text(run.report_data, comparison=compared, whole=whole)


def _attempt(otherwise: str, action: Callable[[], T]) -> T | None:
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - a failure of one output must not cost the others
        notice(f"{otherwise}: {describe(error)}")
        return None
