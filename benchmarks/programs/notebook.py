"""A published source as the cells of its notebook."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.observer.programs import ProgramError


def nothing(folder: Path) -> None:
    """Nothing to prepare."""


@dataclass(frozen=True)
class Recipe:
    """How a program becomes a notebook, and where its best fix is.

    A script: `opened` are beginnings of the headers of blocks whose bodies become lines of the notebook; `dropped`, of
    statements left out; `cuts`, how the first line of each cell after the first begins. A notebook: `cells`, the
    numbers of the cells that are run. The last cell is the profiled one. `edits`: each text that is replaced, and by
    what. `arguments`: the command line. `images`: how many MNIST has for training and for testing. `prepare` puts data
    into the working directory.

    `fix`: the measured best fix, in words. `fix_lines`: beginnings of the lines at which it is made; `fix_calls`: the
    functions or operators that it removes.
    """

    fix: str
    fix_lines: tuple[str, ...]
    fix_calls: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    cells: tuple[int, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    images: tuple[int, int] = (0, 0)
    prepare: Callable[[Path], None] = nothing


def cells_of(text: str, recipe: Recipe) -> list[str]:
    """The cells, the profiled one last. ProgramError where something that the recipe names is not in the source."""
    if recipe.cells:
        given = json.loads(text)["cells"]
        found = ["".join(given[number]["source"]) for number in recipe.cells]
    else:
        found = _cut(_opened(text, recipe), recipe.cuts)
    for old, new in recipe.edits:
        if not any(old in cell for cell in found):
            raise ProgramError(f"{old!r} is in no cell of it")
        found = [cell.replace(old, new) for cell in found]
    return found


def _opened(text: str, recipe: Recipe) -> str:
    lines = text.splitlines()
    kept: list[str | None] = [*lines]
    for node in ast.parse(text).body:
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if lines[first].startswith(recipe.dropped):
            kept[first:last] = [None] * (last - first)
        elif lines[first].startswith(recipe.opened):
            body = first + 1  # a header is one line
            kept[first:body] = [None] * (body - first)
            kept[body:last] = textwrap.dedent("\n".join(lines[body:last])).split("\n")
    for beginning in (*recipe.opened, *recipe.dropped):
        if not any(line.startswith(beginning) for line in lines):
            raise ProgramError(f"no line of it begins with {beginning!r}")
    return "\n".join(line for line in kept if line is not None)


def _cut(text: str, cuts: tuple[str, ...]) -> list[str]:
    found = []
    for cut in cuts:
        above, mark, below = f"\n{text}".partition(f"\n{cut}")
        if not mark:
            raise ProgramError(f"no line of it begins with {cut!r}")
        found.append(above.strip("\n"))
        text = f"{cut}{below}"
    return [*found, text.strip("\n")]


def places(cells: list[str], beginnings: tuple[str, ...]) -> set[tuple[int, int]]:
    """`(cell, line)`, both from 1, of the lines that begin so. ProgramError where one is nowhere."""
    found = set()
    for beginning in beginnings:
        mine = {
            (number, line)
            for number, cell in enumerate(cells, 1)
            for line, text in enumerate(cell.splitlines(), 1)
            if text.strip().startswith(beginning)
        }
        if not mine:
            raise ProgramError(f"no line of it begins with {beginning!r}")
        found |= mine
    return found
