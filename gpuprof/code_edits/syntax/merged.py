"""Several changes of one text, made together."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence

_Edit = tuple[int, int, tuple[str, ...]]


def merged(source: str, changed: Sequence[str]) -> str | None:
    """The text with all the changes that each of `changed` makes to it; None where two of them touch the same lines.

    What two of them change alike (an import) is made once.
    """
    before = source.splitlines(keepends=True)
    edits: set[_Edit] = set()
    for after in changed:
        edits |= set(_edits(before, after.splitlines(keepends=True)))
    ordered = sorted(edits)
    if any(_touch(earlier, later) for earlier, later in itertools.pairwise(ordered)):
        return None
    result, at = list[str](), 0
    for start, end, lines in ordered:
        result += [*before[at:start], *lines]
        at = end
    return "".join([*result, *before[at:]])


def _edits(before: list[str], after: list[str]) -> list[_Edit]:
    """What is replaced by what: lines from, to, and the new ones."""
    codes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(i1, i2, tuple(after[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _touch(earlier: _Edit, later: _Edit) -> bool:
    """Two insertions at one place have no order; a replaced line belongs to one change."""
    return later[0] < earlier[1] or (later[0] == earlier[0] and later[1] == earlier[1])
