"""Whether a large tensor or array is almost all zeros, in all of its parts: one-hot targets, a dense adjacency matrix,
counts of words.

A few of its rows are read, in the host's memory and in place, about a million numbers at most. A buffer that is
not yet full, and rows that are padded, are something else: their zeros are apart from the other numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gpuprof.capture.memory.dense_arrays import by_memory, dense_array, sampled_rows

_MOST_READ = 1 << 20
# a sparse tensor has two places of 8 bytes beside each number
_PLACE_BYTES = 16
_SPARSE_SHARE = 0.2
_ROWS_WITH_NUMBERS = 0.5
_DENSE = 0.5
_MOST_LINES = 64
_FEWEST_LINES = 16
_FEWEST_ONE_HOT = 10
_LONGEST_LINE = 1 << 17
_BFLOAT16_ONE = 0x3F80


class ZeroNumbers(NamedTuple):
    """`bytes` of the tensor are zeros, `share` of all. `one_hot`: each of its lines on one axis has a single 1."""

    bytes: int
    share: float
    one_hot: bool


def zeros_in(tensor: Any) -> ZeroNumbers | None:
    """Of a plain dense tensor on the host that needs no gradient, or of an array; None for any other, and where its
    zeros are too few for another form to pay."""
    array: Any = None if getattr(tensor, "requires_grad", False) else dense_array(tensor)
    if array is None:
        return None
    import numpy as np
    import torch

    array = by_memory(array)
    rows = [(row.size, np.flatnonzero(row)) for row in sampled_rows(array)]
    share = 1 - sum(found.size for _, found in rows) / sum(size for size, _ in rows)
    sparse = (1 - share) * (array.itemsize + _PLACE_BYTES) <= _SPARSE_SHARE * array.itemsize
    if share < 1 - 1 / _FEWEST_ONE_HOT or not _in_all_rows(rows):
        return None
    one_hot = _is_one_hot(array, _BFLOAT16_ONE if tensor.dtype is torch.bfloat16 else 1)
    if not one_hot and (not sparse or _at_an_edge(rows)):
        return None
    return ZeroNumbers(int(array.size * array.itemsize * share), share, one_hot)


def _in_all_rows(rows: list[tuple[int, Any]]) -> bool:
    """Whether most rows have another number than zero: else a part of the tensor is not filled."""
    return sum(1 for _, found in rows if found.size) >= _ROWS_WITH_NUMBERS * len(rows)


def _at_an_edge(rows: list[tuple[int, Any]]) -> bool:
    """Whether the other numbers of most rows lie together at their beginning or end: the zeros pad them."""
    full = [(size, found) for size, found in rows if found.size]
    edges = [min(int(found[-1]) + 1, size - int(found[0])) for size, found in full]
    padded = sum(1 for edge, (_, found) in zip(edges, full, strict=True) if found.size >= _DENSE * edge)
    return padded > len(full) / 2


def _is_one_hot(array: Any, one: int) -> bool:
    return any(_has_single_ones(array, axis, one) for axis in reversed(range(array.ndim)))


def _has_single_ones(array: Any, axis: int, one: int) -> bool:
    """Whether each of some lines along the axis has a single 1 and nothing else."""
    import numpy as np

    if not _FEWEST_ONE_HOT <= array.shape[axis] <= _LONGEST_LINE:
        return False
    others = [size for at, size in enumerate(array.shape) if at != axis]
    number, lines = math.prod(others), max(_FEWEST_LINES, min(_MOST_LINES, _MOST_READ // array.shape[axis]))
    for spot in range(lines):
        index: list[Any] = list(np.unravel_index(spot * (number - 1) // (lines - 1), others))
        index.insert(axis, slice(None))
        line = array[tuple(index)]
        found = np.flatnonzero(line)
        if found.size != 1 or line[found[0]] != one:
            return False
    return bool(number >= lines)
