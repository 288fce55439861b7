"""Containers within containers: the way from a name to most of what it holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gpuprof.capture.memory.held_values import EACH, inside
from gpuprof.model.memory import HolderLevel, ItemPart

# of the bytes: with less, what is elsewhere matters as well
_MOST = 0.7
_MOST_TRIED = 16
_MOST_PARTS = 8
# of the bytes: less saves little
_LEAST_PART = 0.05


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

    def by_item_part(self) -> list[tuple[str, int]]:
        """Steps from the items of a container, with the bytes behind each, the most first."""
        found: Counter[str] = Counter()
        for steps, size in self._bytes.items():
            if len(steps) > 1 and steps[0] == EACH and steps[1] not in (EACH, ""):
                found[steps[1]] += size
        least = _LEAST_PART * self._bytes.total()
        return [(step, size) for step, size in found.most_common(_MOST_PARTS) if size >= least]


def item_parts_of(value: Any, ways: WaysIn, looked_share: float) -> tuple[ItemPart, ...]:
    """What the items of that container hold, by one example of an item for each."""
    import torch

    found = []
    for step, size in ways.by_item_part():
        items, _ = inside(value, top=True) or ([], "")
        for item in items[:_MOST_TRIED]:
            inner, steps = inside(item, top=False) or ([], "")
            if not isinstance(steps, str) and step in steps:
                model, kind = isinstance(inner[steps.index(step)], torch.nn.Module), type(item).__name__
                found.append(ItemPart(kind=kind, step=step, bytes=round(size / looked_share), model=model))
                break
    return tuple(found)


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
