"""A program as two cells of a notebook, and the three ways in which the second one is run."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from benchmarks.observer.adapters import Adapter
from benchmarks.observer.instrument import Instrumenter
from benchmarks.observer.programs import ProgramError

# what the cells call: see stopwatch.Stopwatch
STEP_BEGINS, STEP_ENDS, TIMED, PROFILE, RUN = "_step_begins", "_step_ends", "_timed", "_profile", "_run"


@dataclass(frozen=True)
class Cells:
    """The text of the cell before (imports, model, optimizer) and of the one that is measured."""

    before: str
    measured: str

    def within(self, header: str) -> str:
        """The measured cell as the body of that statement: its lines have the same numbers under every header."""
        return f"{header}\n{textwrap.indent(self.measured, '    ')}"

    @property
    def plain(self) -> str:
        """As it is."""
        return self.within("if True:")

    @property
    def profiled(self) -> str:
        """In a `with` of gpuprof."""
        return self.within(f"with {PROFILE}() as {RUN}:")


def cells_of(text: str, adapter: Adapter) -> Cells:
    """The program's cells. ProgramError where something that the adapter names is not in it just once."""
    for old, new in adapter.edits:
        text = _replaced(text, old, new)
    for number, step in enumerate(adapter.steps):
        text = _replaced(text, step, f"{STEP_BEGINS}(); {step}; {STEP_ENDS}({number == 0})")
    if adapter.loader is not None:
        text = _replaced(text, f"enumerate({adapter.loader})", f"enumerate({TIMED}({adapter.loader}))")
    above, mark, below = text.partition(f"\n{adapter.cell_from}")
    if not mark or mark in below:
        raise ProgramError(f"{adapter.cell_from!r} does not begin just one line of it")
    return Cells(f"{above}\n", textwrap.dedent(f"{mark[1:]}{below}"))


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ProgramError(f"{old!r} is in it {text.count(old)} times, not once")
    return text.replace(old, new)


class Notebook:
    """IPython's own shell; `namespace` is that of its user."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        self._shell = InteractiveShell(config=config)
        self.namespace: dict[str, Any] = self._shell.user_ns

    def run(self, source: str, instrumented: int | None = None) -> None:
        """Run a cell, with a stopwatch at its statements where it is given a number; what it raises is passed on."""
        transformers: list[Any] = self._shell.ast_transformers
        transformers[:] = [] if instrumented is None else [Instrumenter(instrumented)]
        self._shell.run_cell(source, store_history=True).raise_error()
        if instrumented is not None and not transformers:
            raise ProgramError("IPython refused the stopwatch")
