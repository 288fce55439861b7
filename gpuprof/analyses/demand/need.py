"""Which elements of a tensor are needed: a bound from above that operators can be walked back with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from gpuprof.analyses.demand.geometry import Geometry, aligned, axis_order
from gpuprof.model.table import Array

# needed places along one axis: a boolean mask of its length, or None for all of them
Axis = Array | None

# of longer axes answers are not kept: each is as long as its axes
_MOST_KEPT = 65_536


@dataclass(frozen=True, eq=False)
class Need:
    """What is needed of a tensor of `shape` lies in the product of `axes`, and is no more than `count` elements.

    A diagonal has all rows and columns, and a count of one row.
    """

    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    count: int

    @cached_property
    def elements(self) -> int:
        """How many elements, at most."""
        return min(self.count, self.boxed)

    @cached_property
    def boxed(self) -> int:
        """How many elements the product of the axes has."""
        return prod(size(axis, length) for axis, length in zip(self.axes, self.shape, strict=True))

    @property
    def share(self) -> float:
        """Of the tensor's elements, 0..1; 1 of an empty one."""
        total = prod(self.shape)
        return self.elements / total if total else 1.0

    @cached_property
    def whole(self) -> bool:
        """Whether everything is needed, or may be."""
        return self.count >= prod(self.shape) and all(axis is None for axis in self.axes)

    def at_most(self, count: int) -> Need:
        """The same, with no more elements than that."""
        return self if count >= self.count else Need(self.shape, self.axes, count)


@lru_cache(maxsize=4096)
def everything(shape: tuple[int, ...]) -> Need:
    """All elements."""
    return Need(shape, (None,) * len(shape), prod(shape))


@lru_cache(maxsize=4096)
def nothing(shape: tuple[int, ...]) -> Need:
    """None of them."""
    return Need(shape, (None,) * len(shape), 0)


def box(shape: tuple[int, ...], axes: tuple[Axis, ...]) -> Need:
    """The product of the axes."""
    kept = tuple(None if axis is not None and axis.all() else axis for axis in axes)
    if not any(axis is not None for axis in kept):
        return everything(shape)
    return Need(shape, kept, prod(size(axis, length) for axis, length in zip(kept, shape, strict=True)))


def size(axis: Axis, length: int) -> int:
    """How many places along an axis of that length are needed."""
    return length if axis is None else int(np.count_nonzero(axis))


def both(one: Need, other: Need) -> Need:
    """What is needed by one, the other, or both: of one shape."""
    if not one.elements or other.whole:
        return other
    if not other.elements or one.whole:
        return one
    axes = tuple(None if a is None or b is None else a | b for a, b in zip(one.axes, other.axes, strict=True))
    return box(one.shape, axes).at_most(one.elements + other.elements)


def in_whole(need: Need, view: Geometry, whole: Geometry) -> Need:
    """What is needed of the whole where that is needed of a view of it."""
    if not need.elements:
        return nothing(whole.shape)
    if view == whole:
        return need
    small = max(whole.shape, default=0) <= _MOST_KEPT
    return _all_in_whole(view, whole) if need.whole and small else _in_whole(need, view, whole)


@lru_cache(maxsize=4096)
def _all_in_whole(view: Geometry, whole: Geometry) -> Need:
    return _in_whole(everything(view.shape), view, whole)


def _in_whole(need: Need, view: Geometry, whole: Geometry) -> Need:
    count = min(need.elements, view.distinct)
    order = axis_order(view, whole)
    if order is not None:
        return Need(whole.shape, tuple(need.axes[axis] for axis in order), count)
    if count >= whole.elements:
        return everything(whole.shape)
    how = aligned(view, whole)
    if how is None:
        return everything(whole.shape)
    kept = len(view.shape) - how.shared
    marked = _outer_mask(need.axes[:kept], view.shape[:kept])
    return _from_flat(how.to_whole[marked], need.axes[kept:], whole.shape).at_most(count)


def in_view(need: Need, view: Geometry, whole: Geometry) -> Need:
    """What is needed of a view where that is needed of the whole."""
    if not need.elements:
        return nothing(view.shape)
    if view == whole:
        return need
    order = axis_order(whole, view)
    if order is not None:
        return Need(view.shape, tuple(need.axes[axis] for axis in order), need.elements)
    how = None if need.whole else aligned(view, whole)
    if how is None:
        return everything(view.shape)
    kept = len(whole.shape) - how.shared
    marked = np.ones(len(how.to_whole), bool)
    at = np.unravel_index(how.to_whole, whole.shape[:kept]) if kept else ()
    for axis, along in zip(need.axes[:kept], at, strict=True):
        marked &= True if axis is None else axis[along]
    found = _from_flat(np.flatnonzero(marked), need.axes[kept:], view.shape)
    # where elements of a view share a place each of them is needed
    return found.at_most(need.elements) if view.distinct == view.elements else found


def _outer_mask(axes: tuple[Axis, ...], shape: tuple[int, ...]) -> Array:
    mask = np.ones((1,) * len(shape), bool)
    for number, (axis, length) in enumerate(zip(axes, shape, strict=True)):
        along = [1] * len(shape)
        along[number] = length
        mask = mask & (np.ones(length, bool) if axis is None else axis).reshape(along)
    return mask.reshape(-1)


def _from_flat(places: Array, last: tuple[Axis, ...], shape: tuple[int, ...]) -> Need:
    """The needed places of the outer axes, flat, and the axes behind them."""
    outer = shape[: len(shape) - len(last)]
    axes = [np.zeros(length, bool) for length in outer]
    for axis, along in zip(axes, np.unravel_index(places, outer) if outer else (), strict=True):
        axis[along] = True
    inner = prod(size(axis, length) for axis, length in zip(last, shape[len(outer) :], strict=True))
    return box(shape, (*axes, *last)).at_most(len(places) * inner)
