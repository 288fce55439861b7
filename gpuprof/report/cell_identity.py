"""Which saved run is an earlier one of the same cell, though its code was changed since."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import TypeVar

from gpuprof.model.context import Cell
from gpuprof.report.saved import RunOnDisk

# Alike in so much of its code, a cell is the same one although its id differs (a copy) or is not known.
_ALIKE = 0.8
# One long line in common makes a few lines alike that do something else: so many need to have a counterpart.
_MATCHED_LINES = 0.6
# With the same id it is the same unless next to nothing of its code is left.
_REWRITTEN = 0.3
_MAGIC_LINE = "# %%gpuprofile"
_COMPARED_BY_LINE = 8  # fewer lines are compared by character

Saved = TypeVar("Saved", bound=RunOnDisk)


def previous_among(runs: Iterable[Saved], cell: Cell, before_ns: int) -> Saved | None:
    """The newest of `runs` that is of this cell, began before `before_ns` (since 1970) and did not raise.

    The cell is known by its id, which a front end keeps through edits and restarts, else by its code.
    """
    earlier = [each for each in runs if (each.created_ns or 0) < before_ns and not each.error]
    copies = []
    for saved in sorted(earlier, key=lambda run: run.created_ns or 0, reverse=True):
        if saved.cell is None:
            continue
        alike = _likeness(_code(cell), _code(saved.cell))
        if cell.cell_id is not None and cell.cell_id == saved.cell.cell_id and alike >= _REWRITTEN:
            return saved
        if alike >= _ALIKE and _matched(_code(cell), _code(saved.cell)) >= _MATCHED_LINES:
            copies.append(saved)
    return copies[0] if copies else None


@functools.lru_cache(256)  # a cell is run again and again, and each takes a millisecond
def _likeness(ours: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    """0..1: how much of the code two cells share."""
    if ours == theirs:
        return 1.0
    if min(len(ours), len(theirs)) < _COMPARED_BY_LINE:
        return SequenceMatcher(None, "\n".join(ours), "\n".join(theirs), autojunk=False).ratio()
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


@functools.lru_cache(256)
def _matched(ours: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    """0..1: how many of their lines the other cell has too, or changed a little; 1 where lines were compared."""
    if min(len(ours), len(theirs)) >= _COMPARED_BY_LINE:
        return 1.0
    pairs = ((ours, theirs), (theirs, ours))
    found = sum(bool(get_close_matches(line, others, 1, _ALIKE)) for lines, others in pairs for line in lines)
    return found / ((len(ours) + len(theirs)) or 1)


def _code(cell: Cell) -> tuple[str, ...]:
    """The lines, the magic line and blank ones apart."""
    lines = (line.strip() for line in cell.source.splitlines())
    return tuple(line for line in lines if line and not line.startswith(_MAGIC_LINE))
