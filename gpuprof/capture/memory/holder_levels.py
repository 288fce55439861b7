"""Containers within containers: the way from a name to most of what it holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gpuprof.capture.memory.held_values import inside
from gpuprof.model.memory import HolderLevel

# of the bytes: with less, what is elsewhere matters as well
_MOST = 0.7
_MOST_TRIED = 16


class WaysIn:
    """Bytes by the steps that lead to them."""

    def __init__(self) -> None:
        self._bytes: Counter[tuple[str, ...]] = Counter()

    def add(self, steps: list[str], size: int) -> None:
        """Of one tensor or array."""
        self._bytes[tuple(steps)] += size

    def to_most(self) -> tuple[str, ...]:
        """The steps that most of the bytes have in common, up to the first model or optimizer."""
        whole = self._bytes.total()
        found: tuple[str, ...] = ()
        while True:
            deeper: Counter[tuple[str, ...]] = Counter()
            for steps, size in self._bytes.items():
                if len(steps) > len(found) and steps[: len(found)] == found:
                    deeper[steps[: len(found) + 1]] += size
            (most, size) = max(deeper.items(), key=lambda each: each[1], default=(found, 0))
            if not size or size < _MOST * whole or not most[-1]:
                return found
            found = most

    def bytes_on(self, steps: tuple[str, ...]) -> int:
        """What lies on that way, or behind it."""
        return sum(size for way, size in self._bytes.items() if way[: len(steps)] == steps)


def levels_of(value: Any, steps: tuple[str, ...]) -> tuple[HolderLevel, ...]:
    """The containers and objects on that way, each by one example that is not empty, if there is one; last what is at
    its end."""
    found: list[HolderLevel] = []
    if not steps:
        return ()
    for at, step in enumerate(steps):
        inner, ways = inside(value, top=at == 0) or ([], "")
        found.append(HolderLevel(kind=type(value).__name__, items=len(inner), step=step))
        if not isinstance(ways, str):
            inner = [each for each, way in zip(inner, ways, strict=True) if way == step]
        full = [each for each in inner[:_MOST_TRIED] if (inside(each, top=False) or ([],))[0]]
        if not inner:
            return tuple(found)
        value = next(iter(full), inner[0])
    inner, _ = inside(value, top=False) or ([], "")
    return (*found, HolderLevel(kind=type(value).__name__, items=len(inner), step=""))
