"""A kernel's name as people read it. `timeline/js/text.js` does the same in the browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_NAMESPACES = re.compile(r"\b(?:at|c10)::(?:native::|detail::)?|\(anonymous namespace\)::")


def short_name(name: str) -> str:
    """A C++ function's name without `void` and its list of arguments; any other name as it is."""
    if not name.endswith(")"):
        return name
    depth = 0
    for at in range(len(name) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name if name[at - 1] == " " else name[:at].removeprefix("void ")
    return name


def brief_names(names: Sequence[str]) -> list[str]:
    """The short name of each without torch's namespaces, but the whole name where two would read the same."""
    short = [_NAMESPACES.sub("", short_name(name)) for name in names]
    found = Counter(short)
    return [name if found[words] > 1 else words for name, words in zip(names, short, strict=True)]
