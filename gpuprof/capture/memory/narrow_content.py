"""Which smaller type would hold the numbers of a large tensor or array exactly: pictures of whole numbers up to 255 in
float32, labels in int64, float64 that has come from float32.

Some of them are read, in the host's memory and in place, a quarter of a million at most. A buffer that is not yet
full, and one that holds the same number everywhere, say nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuprof.capture.memory.dense_arrays import dense_array, sampled_blocks

_WHOLE = ("uint8", "int8", "int16", "uint16", "int32")
# torch has next to no operators for it
_NOT_IN_TORCH = ("uint16",)
_FRACTIONS = ("float16", "float32")
_FULL_BLOCKS = 0.5
# what a buffer is made of before it is filled
_EMPTY = (0, -1)


class NarrowNumbers(NamedTuple):
    """`types`: its own, and the smallest that holds every number looked at. `wide_bytes` now, `narrow_bytes` then."""

    types: tuple[str, str]
    wide_bytes: int
    narrow_bytes: int


def narrow_in(value: Any) -> NarrowNumbers | None:
    """Of a plain dense tensor on the host that needs no gradient, or of an array; None for any other, and where no
    smaller type holds all numbers that are looked at."""
    array: Any = None if getattr(value, "requires_grad", False) else dense_array(value, 1)
    if array is None or array.dtype.kind not in "iuf" or _is_bfloat16(value):
        return None
    blocks = list(sampled_blocks(array))
    ends = [(block.min(), block.max()) for block in blocks]
    full = [not _is_empty(*each) for each in ends]
    if not full[-1] or sum(full) < _FULL_BLOCKS * len(full) or _is_constant(ends):
        return None
    for name in _smaller(array.dtype, in_torch=array is not value):
        if all(_holds(name, block) for block in blocks):
            return NarrowNumbers((array.dtype.name, name), array.nbytes, array.size * _size(name))
    return None


def _is_constant(ends: list[tuple[Any, Any]]) -> bool:
    return all(low == ends[0][0] == high for low, high in ends)


def _smaller(own: Any, *, in_torch: bool) -> list[str]:
    """The types that may hold its numbers in fewer bytes, the smallest first, whole numbers before fractions."""
    names = [*_WHOLE, *(_FRACTIONS if own.kind == "f" else ())]
    names = [name for name in names if _size(name) < own.itemsize and not (in_torch and name in _NOT_IN_TORCH)]
    return sorted(names, key=_size)


def _size(name: str) -> int:
    import numpy as np

    return int(np.dtype(name).itemsize)


def _holds(name: str, block: Any) -> bool:
    """Whether the type has each of these numbers, exactly."""
    import numpy as np

    kind = np.dtype(name)
    if kind.kind == "f":
        with np.errstate(all="ignore"):
            return bool(np.array_equal(block.astype(kind).astype(block.dtype), block, equal_nan=True))
    limits = np.iinfo(kind)
    if not (block.min() >= limits.min and block.max() <= limits.max):
        return False
    return block.dtype.kind != "f" or bool((np.rint(block) == block).all())


def _is_empty(low: Any, high: Any) -> bool:
    """NaN is equal to nothing."""
    return bool(low != low or (low == high and low in _EMPTY))


def _is_bfloat16(value: Any) -> bool:
    import torch

    return value.dtype is torch.bfloat16
