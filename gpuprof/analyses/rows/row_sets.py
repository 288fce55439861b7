"""Rows of a tensor, and a selection of them: which axes number the rows, in whatever view of a storage."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod

from gpuprof.analyses.demand.geometry import Geometry

Axes = frozenset[int]
"""Axes of a tensor that number its rows: `{0, 1}` of batch×length×features. A row is all that lies at one place."""
Spans = tuple[tuple[float, float], ...]
"""The same of a storage: from which stride to below which one a step leads to another row."""


@dataclass(frozen=True)
class RowSelection:
    """The rows that a mask or target keeps: `mask` is the value that it follows from, `kept` how many there are."""

    mask: int
    kept: int


@dataclass(frozen=True)
class Rows:
    """Of a storage: nothing outside of the rows of these selections."""

    spans: Spans
    of: frozenset[RowSelection]

    @property
    def kept(self) -> int:
        """How many rows, at most."""
        return sum(each.kept for each in self.of)

    def also(self, other: Rows) -> Rows | None:
        """What lies in one or the other; None where their rows are not the same ones."""
        return Rows(self.spans, self.of | other.of) if self.spans == other.spans else None

    def axes(self, view: Geometry) -> Axes | None:
        """The axes of a view that number them; None where its axes are no rows of this kind."""
        found = set()
        for axis, (length, step) in enumerate(zip(view.shape, view.strides, strict=True)):
            if length < 2 or not step:
                continue
            end = step * length
            if any(low <= step and end <= high for low, high in self.spans):
                found.add(axis)
            elif any(low < end and step < high for low, high in self.spans):
                return None
        return frozenset(found) if found else None


def spans_of(view: Geometry, axes: Axes) -> Spans | None:
    """Of the storage where those axes of a view number the rows; None where several elements share one place."""
    laid = sorted(
        (step, length, axis) for axis, (length, step) in enumerate(zip(view.shape, view.strides, strict=True))
    )
    laid = [each for each in laid if each[1] > 1]
    if any(not step for step, _, _ in laid):
        return None
    spans: list[tuple[float, float]] = []
    for number, (step, length, axis) in enumerate(laid):
        above = laid[number + 1][0] if number + 1 < len(laid) else inf
        if above < step * length:
            return None
        if axis not in axes:
            continue
        if spans and spans[-1][1] == step:
            spans[-1] = (spans[-1][0], above)
        else:
            spans.append((step, above))
    return tuple(spans) or None


def count(shape: tuple[int, ...], axes: Axes) -> int:
    """How many rows a tensor of that shape has."""
    return prod(shape[axis] for axis in axes)
