"""A unified diff as lines with their role, for views that colour them."""

from __future__ import annotations

from typing import NamedTuple


class DiffLine(NamedTuple):
    """`role` is `added`, `removed`, `place` (the @@ line) or `kept`; `text` still has its first sign."""

    role: str
    text: str


def diff_lines(diff: str) -> list[DiffLine]:
    """The lines of a unified diff without its file names."""
    body = [line for line in diff.splitlines() if not line.startswith(("--- ", "+++ "))]
    return [DiffLine(_role(line), line) for line in body]


def _role(line: str) -> str:
    if line.startswith("@@"):
        return "place"
    return {"+": "added", "-": "removed"}.get(line[:1], "kept")
