"""The magics that IPython itself knows: for `?`, for completion, and for calls from inside a running cell."""

from __future__ import annotations

import sys
from typing import Any

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.magics.cell_events import CellEvents
from gpuprof.magics.fix import put_changed_cell
from gpuprof.magics.hints import Hints
from gpuprof.magics.messages import MagicUsageError, notice
from gpuprof.magics.options import with_arguments
from gpuprof.magics.try_change import try_change, with_try_arguments
from gpuprof.magics.tune import tune, with_tune_arguments

MAGICS = (
    ("cell", "gpuprofile"),
    ("line", "gpuexplain"),
    ("line", "gpufix"),
    ("line", "gputry"),
    ("line", "gputune"),
    ("line", "gpuhistory"),
    ("line", "gpuprof"),
)


def register(shell: Any, events: CellEvents, hints: Hints) -> None:
    """Give the shell the magics of MAGICS."""

    @with_arguments
    def gpuprofile(line: str, cell: str) -> Any:
        """Profile this cell and show, below it, where its time and memory went and what to change."""
        __tracebackhide__ = True
        return events.profile_body(line, cell)

    def gpufix(line: str) -> None:
        """Put the cell with the change of finding N of the last run below: `%gpufix 1`; `%gpufix`: the fastest."""
        put_changed_cell(shell, line)

    @with_try_arguments
    def gputry(line: str) -> None:
        """Measure the change of finding N of the last run against the original cell: `%gputry 1`."""
        try_change(shell, line)

    @with_tune_arguments
    def gputune(line: str) -> None:
        """Search the settings of the last profiled cell that make it fastest and keep its results: `%gputune`."""
        tune(shell, line)

    def gpuprof(line: str) -> None:
        """One line below every cell of 5 s or more, without profiling it: `%gpuprof on`, `%gpuprof off`."""
        notice(hints.turn(line))

    functions = (gpuprofile, gpuexplain, gpufix, gputry, gputune, gpuhistory, gpuprof)
    for function, (kind, name) in zip(functions, MAGICS, strict=True):
        shell.register_magic_function(function, kind, name)


def gpuexplain(line: str) -> None:
    """Print the page of a rule: `%gpuexplain input_stall`. Without a name, list the rules."""
    from gpuprof.rules.documentation import describe_rules, explain

    name = line.strip()
    try:
        page = explain(name) if name else describe_rules()
    except UsageError as error:
        raise MagicUsageError(str(error)) from None
    sys.stdout.write(f"{page.rstrip()}\n")


def gpuhistory(line: str) -> Any:
    """List the saved runs, oldest first: `%gpuhistory`, or `%gpuhistory FOLDER` for the runs saved there.

    The value is a sequence: `%gpuhistory` and then `_[-1].load()` gives the newest Run.
    """
    from gpuprof.profiling import history

    try:
        return history(line.strip() or None)
    except GpuprofError as error:
        raise MagicUsageError(str(error)) from None
