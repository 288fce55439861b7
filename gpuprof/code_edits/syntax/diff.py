"""A change of a cell as a unified diff, and back; and the magic line as the user typed it."""

from __future__ import annotations

import difflib
import re

CONTEXT_LINES = 3
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_MAGIC_LINE = re.compile(r"# (%%gpuprofile\b.*)")
_COMPARE = re.compile(r"""\s*--compare(?:\s+|=)(?:'[^']*'|"[^"]*"|\S+)""")
_TRY = re.compile(r"\s*--try(?:-seconds(?:\s+|=)\S+)?(?=\s|$)")


def unified_diff(before: str, after: str) -> str:
    """The change from one text to the other, with three lines around it; empty where the lines are the same."""
    old, new = _lines(before), _lines(after)
    return "\n".join(difflib.unified_diff(old, new, "a/cell", "b/cell", n=CONTEXT_LINES, lineterm=""))


def changed(source: str, diff: str) -> str | None:
    """The text after a diff that `unified_diff` made of it; None where the diff is of another text."""
    lines, result, at = _lines(source), list[str](), 0
    hunks = diff.split("\n")[2:]
    while hunks:
        head = _HUNK.match(hunks.pop(0))
        if head is None:
            return None
        start = int(head[1]) - (head[2] != "0")
        result += lines[at:start]
        at = start
        while hunks and not hunks[0].startswith("@@"):
            line = hunks.pop(0)
            if line[:1] in (" ", "-"):
                if lines[at : at + 1] != [line[1:]]:
                    return None
                at += 1
            if line[:1] in (" ", "+"):
                result.append(line[1:])
    result += lines[at:]
    return "\n".join(result) + ("\n" if source.endswith("\n") else "")


def as_typed(source: str) -> str:
    """The source of a recorded cell with its magic line, which is kept as a comment, as a magic again."""
    lines = source.split("\n")
    at = _magic_line(lines)
    return source if at is None else "\n".join([*lines[:at], lines[at].removeprefix("# "), *lines[at + 1 :]])


def compared_with_last(source: str) -> str:
    """A cell as typed, with `--compare last` on its magic line and without `--try`; unchanged where it has none."""
    lines = source.split("\n")
    at = next((row for row, line in enumerate(lines) if line.startswith("%%gpuprofile")), None)
    if at is not None:
        lines[at] = f"{_TRY.sub('', _COMPARE.sub('', lines[at])).rstrip()} --compare last"
    return "\n".join(lines)


def _magic_line(lines: list[str]) -> int | None:
    for at, line in enumerate(lines):
        if _MAGIC_LINE.match(line):
            return at
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return None


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
