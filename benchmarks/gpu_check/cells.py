"""Runs a text as a notebook cell under gpuprof's capture, without needing a notebook."""

from __future__ import annotations

import itertools
import linecache
from dataclasses import dataclass
from typing import Any

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Cell
from gpuprof.run import Run

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Played:
    """The run of a cell, and what the cell raised (None where it ran through)."""

    run: Run
    error: BaseException | None


def enter(source: str, namespace: dict[str, Any]) -> None:
    """Run an earlier cell, plain; what it raises is passed on."""
    exec(_compiled(source), namespace)


def play(source: str, namespace: dict[str, Any] | None = None, **options: Any) -> Played:
    """Run the cell in `namespace` under capture with these CaptureOptions. What it raises is kept, not raised."""
    namespace = {"__name__": "__main__"} if namespace is None else namespace
    code = _compiled(source)
    cell = Cell(source=source, filename=code.co_filename, name=options.get("name"))
    session = Session(CaptureOptions(**options), cell=cell, namespace=namespace)
    session.start()
    error: BaseException | None = None
    try:
        exec(code, namespace)
    except BaseException as raised:  # noqa: BLE001 - how the cell ended is part of the result
        error = raised
    captured = session.stop(error)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
    return Played(Run._from_captured(captured), error)


def _compiled(source: str) -> Any:
    """Its code, under a name that counts as a cell of the notebook, with the text where tracebacks look for it."""
    name = f"<ipython-input-{next(_numbers)}-gpucheck>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec")
