"""IPython's own syntax (`!pip list`, `%matplotlib inline`, `x = !ls`, `name?`), hidden from the parser and put back.

A hidden line is a name of its own, at the same place and indent; further physical lines of the same command become
comments, so that line numbers stay.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Self

# bodies of these cell magics are Python; those of others (%%bash, %%html) are not
_PYTHON_MAGICS = ("capture", "gpuprofile", "prun", "time", "timeit")
_COMMAND = re.compile(r"\s*(?:[!%]|\?{1,2}\s*\w)|\s*[\w.\s,\[\]]+=\s*[!%]|\s*[!%]?[\w.*]+\?{1,2}\s*(?:#.*)?$")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_TOKEN = re.compile(
    r"""(?P<comment>\#.*) | (?P<long>\"\"\"|''') | (?P<string>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*')
    | (?P<open>[(\[{]) | (?P<close>[)\]}])""",
    re.VERBOSE,
)
_NAME = re.compile(r"gpuprof_masked_(\d+)_")


@dataclass(frozen=True)
class Masked:
    """`code` has names where `hidden`, in the same order, are the texts of IPython."""

    code: str
    hidden: tuple[str, ...]

    @classmethod
    def of(cls, source: str) -> Self | None:
        """Hide the commands of IPython; None where the cell's body is no Python, or has such a name already."""
        if _NAME.search(source):
            return None
        lines, hidden = source.split("\n"), list[str]()
        inside, continued = _Inside(), False
        for at, line in enumerate(lines):
            if continued or (inside.nothing and _COMMAND.match(line)):
                magic = _CELL_MAGIC.match(line)
                if magic and magic[1] not in _PYTHON_MAGICS:
                    return None
                indent = line[: len(line) - len(line.lstrip())]
                lines[at] = f"{indent}{'# ' if continued else ''}gpuprof_masked_{len(hidden)}_"
                hidden.append(line[len(indent) :])
                continued = line.endswith("\\")
            else:
                inside.read(line)
        return cls("\n".join(lines), tuple(hidden))

    def restore(self, code: str) -> str | None:
        """Put the texts back; None where one is missing or doubled."""
        found = [int(number) for number in _NAME.findall(code)]
        if found != list(range(len(self.hidden))):
            return None
        return re.sub(r"(?:# )?" + _NAME.pattern, lambda name: self.hidden[int(name[1])], code)

    def finished(self, code: str, source: str) -> str | None:
        """The changed code with its texts put back; None where it is no Python, or where that is still `source`."""
        try:
            compile(code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return None
        restored = self.restore(code)
        return None if restored == source else restored


class _Inside:
    """Whether a line begins inside brackets, a long string, or a statement that the line before continues."""

    def __init__(self) -> None:
        self._brackets = 0
        self._quote = ""
        self._continued = False

    @property
    def nothing(self) -> bool:
        return not (self._brackets or self._quote or self._continued)

    def read(self, line: str) -> None:
        at = 0
        while at < len(line):
            if self._quote:
                end = _end_of_string(line, at, self._quote)
                if end is None:
                    break
                at, self._quote = end, ""
                continue
            token = _TOKEN.search(line, at)
            if token is None or token["comment"]:
                break
            at = token.end()
            self._quote = token["long"] or ""
            self._brackets = max(self._brackets + bool(token["open"]) - bool(token["close"]), 0)
        self._continued = not self._quote and line.endswith("\\")


def _end_of_string(line: str, at: int, quote: str) -> int | None:
    found = re.compile(rf"(?:\\.|(?!{quote}).)*{quote}").match(line, at)
    return found.end() if found else None
