"""A unified diff as lines with their role, for views that colour them."""

from __future__ import annotations

from typing import NamedTuple


class DiffLine(NamedTuple):
    """`role` is `file` (above the first place), `place` (the @@ line), `added`, `removed` or `kept`; `text` still
    has its first sign."""

    role: str
    text: str


def diff_lines(diff: str) -> tuple[DiffLine, ...]:
    """The lines of a unified diff, its file names included."""
    lines = diff.rstrip("\n").split("\n") if diff else []
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), 0)
    return tuple(DiffLine("file" if at < first else _role(line), line) for at, line in enumerate(lines))


def _role(line: str) -> str:
    if line.startswith("@@"):
        return "place"
    return {"+": "added", "-": "removed"}.get(line[:1], "kept")
