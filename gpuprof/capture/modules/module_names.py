"""What the modules that ran are called: the path from the outermost of them, as `named_modules` gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_MOST_PATHS = 8  # of one shared module
_MOST_STEPS = 200_000
_DEEPEST = 50


def paths_of(modules: Sequence[Any | None], outermost: Sequence[int]) -> list[tuple[str, ...]]:
    """For each of `modules` (None: it is gone) the paths under which it hangs in a module that was called outermost:
    `Net.layers.0`. None where no such one is alive.

    `outermost`: places in `modules`. One that hangs in another of them is no root of its own. Two roots of one class
    are `Net` and `Net #2`. No code of the user's is run: `_modules` is read as it is.
    """
    known = {id(module): place for place, module in enumerate(modules) if module is not None}
    found: list[list[str]] = [[] for _ in modules]
    steps = iter(range(_MOST_STEPS))
    below = {root: list(_walk(modules[root], known, steps)) for root in outermost if modules[root] is not None}
    inside: set[int] = set()
    for root, places in below.items():
        if root not in inside:
            inside |= {place for place, path in places if path and place != root and place in below}
    used: dict[str, int] = {}
    for root, places in below.items():
        if root in inside:
            continue
        kind = type(modules[root]).__name__
        used[kind] = used.get(kind, 0) + 1
        name = kind if used[kind] == 1 else f"{kind} #{used[kind]}"
        for place, path in places:
            if len(found[place]) < _MOST_PATHS:
                found[place].append(".".join((name, *path)))
    return [tuple(each) for each in found]


def _walk(root: Any, known: dict[int, int], steps: Iterator[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Those of `known` below `root`, itself included, each with its path from there, parents first."""
    waiting: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while waiting and next(steps, None) is not None:
        module, path = waiting.pop()
        place = known.get(id(module))
        if place is not None:
            yield place, path
        parts = getattr(module, "__dict__", {}).get("_modules")
        if isinstance(parts, dict) and len(path) < _DEEPEST:
            inner = [(part, (*path, str(name))) for name, part in list(parts.items()) if part is not None]
            waiting.extend(reversed(inner))
