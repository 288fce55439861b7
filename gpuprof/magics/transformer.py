"""Turns the `%%gpuprofile` line of a cell into a comment, so that the rest runs as the plain cell.

Pure text; line numbers stay. Blank and comment lines may stand above the magic line: Colab and jupytext put theirs
there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from IPython.core.inputtransformer2 import cell_magic

NAME = "%%gpuprofile"
_MAGIC = re.compile(rf"{NAME}(?:\s+(?P<arguments>.*?))?\s*$")


@dataclass(frozen=True)
class MagicLine:
    """Where the magic line stands (0-based) and what follows the magic's name on it."""

    index: int
    arguments: str


def find_magic_line(lines: list[str]) -> MagicLine | None:
    """The magic line, if it is the first one that is neither blank nor a comment."""
    for index, line in enumerate(lines):
        if found := _MAGIC.match(line):
            return MagicLine(index, found["arguments"] or "")
        if line.strip() and not line.lstrip().startswith("#"):
            return None
    return None


def comment_out(lines: list[str], magic: MagicLine) -> list[str]:
    """The same lines with the magic line as a comment."""
    at = magic.index
    return [*lines[:at], f"# {lines[at]}", *lines[at + 1 :]]


def has_code(lines: list[str]) -> bool:
    """Whether any line is neither blank nor a comment."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


class Transformer:
    """The last of the shell's cleanup transformers.

    `check` gets the magic's arguments and the lines below; what it raises keeps the cell from running. `nested` says
    whether a cell is running already: then another magic (`%%time`) hands us its body, no run event will follow, and
    the real cell magic does the work.
    """

    # IPython asks such transformers nothing while the user is still typing
    has_side_effects = True

    def __init__(self, check: Callable[[str, list[str]], object], nested: Callable[[], bool]):
        self._check = check
        self._nested = nested

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines as they are to be run."""
        magic = find_magic_line(lines)
        if magic is None:
            return lines
        at = magic.index
        if self._nested():
            return [*lines[:at], *cell_magic(lines[at:])]
        self._check(magic.arguments, lines[at + 1 :])
        commented = comment_out(lines, magic)
        # a cell magic directly below ours would no longer stand on the first line, where IPython looks for it
        return [*commented[: at + 1], *cell_magic(commented[at + 1 :])]
