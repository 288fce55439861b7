"""Which saved run is an earlier one of the same cell, though its code was changed since."""

from __future__ import annotations

import time
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.errors import GpuprofError
from gpuprof.profiling.runs import history

if TYPE_CHECKING:
    from gpuprof.model.context import Cell
    from gpuprof.run import Run

# Alike in so much of its code, a cell is the same one although its id differs (a copy) or is not known.
_ALIKE = 0.8
# With the same id it is the same unless next to nothing of its code is left.
_REWRITTEN = 0.3
_MAGIC_LINE = "# %%gpuprofile"
_COMPARED_BY_LINE = 8  # fewer lines are compared by character


def previous_of(run: Run) -> Path | None:
    """The folder of the newest earlier run of the same cell that did not raise; None where there is none.

    The cell is known by its id, which a front end keeps through edits and restarts, else by its code.
    """
    cell, folder = run.trace.context.cell, run.folder
    if cell is None or folder is None:
        return None
    try:
        before = run.trace.context.created_ns or time.time_ns()
        earlier = [each for each in history(folder.parent) if (each.created_ns or 0) < before and not each.error]
    except GpuprofError:
        return None
    copies = []
    for saved in reversed(earlier):
        if saved.cell is None:
            continue
        alike = _likeness(cell, saved.cell)
        if cell.cell_id is not None and cell.cell_id == saved.cell.cell_id and alike >= _REWRITTEN:
            return saved.folder
        if alike >= _ALIKE:
            copies.append(saved.folder)
    return copies[0] if copies else None


def _likeness(one: Cell, other: Cell) -> float:
    """0..1: how much of the code the two cells share, the magic line and blank lines apart."""
    ours, theirs = _code(one), _code(other)
    if min(len(ours), len(theirs)) < _COMPARED_BY_LINE:
        return SequenceMatcher(None, "\n".join(ours), "\n".join(theirs), autojunk=False).ratio()
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


def _code(cell: Cell) -> list[str]:
    lines = (line.strip() for line in cell.source.splitlines())
    return [line for line in lines if line and not line.startswith(_MAGIC_LINE)]
