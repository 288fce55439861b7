"""Where a line of a text stands after the text was changed."""

from __future__ import annotations

import difflib


def moved_line(before: str, after: str, line: int) -> int | None:
    """The number, from 1, that line `line` of `before` has in `after`; None where it is gone.

    A line that was changed counts as the one in its place, where as many lines stand there as before.
    """
    old, new = before.split("\n"), after.split("\n")
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if i1 < line <= i2:
            kept = tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1)
            return j1 + line - i1 if kept else None
    return None
