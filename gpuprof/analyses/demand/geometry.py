"""How a tensor lies in its storage, and which elements of one tensor another tensor of that storage takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from gpuprof.model.table import Array

# what is enumerated to find which elements a view takes; above it all of them
_MOST_ELEMENTS = 1 << 21


@dataclass(frozen=True)
class Geometry:
    """A strided tensor in its storage: `shape`, and `strides` and `offset` in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def elements(self) -> int:
        """How many it has."""
        return prod(self.shape)

    @property
    def distinct(self) -> int:
        """How many places of the storage they lie in, at most: an expanded axis is one place."""
        return prod(size for size, stride in zip(self.shape, self.strides, strict=True) if stride)


def contiguous(shape: tuple[int, ...]) -> Geometry:
    """A tensor of that shape as torch makes it."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return Geometry(shape, tuple(strides))


@dataclass(frozen=True)
class Alignment:
    """How elements of a view and of a whole tensor of one storage correspond.

    Their last `shared` axes are the same. Of the axes before them, flat: `to_whole[i]` is the place in the whole of
    place i of the view.
    """

    shared: int
    to_whole: Array


@lru_cache(maxsize=4096)
def aligned(view: Geometry, whole: Geometry) -> Alignment | None:
    """How they correspond; None where the view is no part of the whole, or where that takes too long to find."""
    shared = _shared_axes(view, whole)
    outer_view, outer_whole = _outer(view, shared), _outer(whole, shared)
    if outer_view.elements > _MOST_ELEMENTS or 0 in (*view.shape, *whole.shape):
        return None
    to_whole = _numbers(_places(outer_view), outer_whole)
    return None if to_whole is None else Alignment(shared, to_whole)


def axis_order(view: Geometry, whole: Geometry) -> tuple[int, ...] | None:
    """For each axis of the whole the axis of the view that it is, where the view only exchanges axes; else None."""
    if view.offset != whole.offset or len(view.shape) != len(whole.shape):
        return None
    left = list(enumerate(zip(view.shape, view.strides, strict=True)))
    order = []
    for axis in zip(whole.shape, whole.strides, strict=True):
        match = next((entry for entry in left if entry[1] == axis), None)
        if match is None:
            return None
        left.remove(match)
        order.append(match[0])
    sizes = [axis for axis in zip(whole.shape, whole.strides, strict=True) if axis[0] > 1]
    return tuple(order) if len(set(sizes)) == len(sizes) else None


def _shared_axes(view: Geometry, whole: Geometry) -> int:
    shared = 0
    pairs = zip(
        zip(view.shape[::-1], view.strides[::-1], strict=True),
        zip(whole.shape[::-1], whole.strides[::-1], strict=True),
        strict=False,
    )
    for (size, stride), (whole_size, whole_stride) in pairs:
        if size != whole_size or (size > 1 and (stride != whole_stride or not stride)):
            break
        shared += 1
    return shared


def _outer(tensor: Geometry, shared: int) -> Geometry:
    kept = len(tensor.shape) - shared
    return Geometry(tensor.shape[:kept], tensor.strides[:kept], tensor.offset)


def _numbers(places: Array, whole: Geometry) -> Array | None:
    """The flat numbers in the whole of places in its storage; None where it has no element in one of them.

    Each place has one number, as digits have: the larger strides go over the smaller ones.
    """
    left = places - whole.offset
    number = np.zeros(len(places), np.int64)
    factors = contiguous(whole.shape).strides
    above = None
    for axis in sorted(range(len(whole.shape)), key=lambda axis: -whole.strides[axis]):
        length, stride = whole.shape[axis], whole.strides[axis]
        if length == 1:
            continue
        if stride <= 0 or (above is not None and stride * length > above):
            return None
        digit, left = left // stride, left % stride
        if len(digit) and (digit.min() < 0 or digit.max() >= length):
            return None
        number += digit * factors[axis]
        above = stride
    return None if left.any() else number


def _places(tensor: Geometry) -> Array:
    places = np.full((1,) * len(tensor.shape), tensor.offset, np.int64)
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.strides, strict=True)):
        along = [1] * len(tensor.shape)
        along[axis] = size
        places = places + (np.arange(size, dtype=np.int64) * stride).reshape(along)
    return places.reshape(-1)
