"""How many positions of a batch of sequences are padding, by the numbers that index an embedding.

What pads is one number, at the same end of most rows, that hardly occurs anywhere else. A few thousand numbers are read
on the host; devices are not asked.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.table import Array

_TYPES = {"torch.int64": np.int64, "torch.int32": np.int32}
_MOST_ELEMENTS = 1 << 20
_FEWEST_ROWS, _SHORTEST = 4, 16
# of the rows end in it, of the other numbers are the same, of the rows have nothing else
_PADDED_ROWS, _INSIDE, _EMPTY_ROWS = 0.5, 0.02, 0.1
# of the positions lie beyond every sequence of the batch: a fixed length
_FIXED = 0.05


def is_index(tensor: Any) -> bool:
    """Whether its numbers may be those of words: rows of one length, on the host."""
    return (
        str(tensor.dtype) in _TYPES
        and tensor.device.type == "cpu"
        and tensor.dim() == 2
        and tensor.shape[0] >= _FEWEST_ROWS
        and tensor.shape[1] >= _SHORTEST
        and tensor.numel() <= _MOST_ELEMENTS
        and tensor.is_contiguous()
    )


def padded(tensor: Any) -> tuple[float, int]:
    """The share of its positions that are padding, 0..1, and a ZeroPattern: of PADDED_LENGTH those alone that are
    padding in all rows. For `is_index`."""
    kind = _TYPES[str(tensor.dtype)]
    address, nbytes = tensor.data_ptr(), tensor.numel() * tensor.element_size()
    content = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address)).view(kind).reshape(tensor.shape)
    found = max((_at_end(content), _at_end(content[:, ::-1])), key=lambda each: each[0])
    total, everywhere = found
    if everywhere >= _FIXED:
        return everywhere, int(ZeroPattern.PADDED_LENGTH)
    return total, int(ZeroPattern.PADDED_ROWS if total else ZeroPattern.NONE)


def _at_end(content: Array) -> tuple[float, float]:
    """The share of positions that are padding at the end of rows, and of those that are so in all rows."""
    rows, length = content.shape
    numbers, counts = np.unique(content[:, -1], return_counts=True)
    number = numbers[counts.argmax()]
    other = content[:, ::-1] != number
    tail = np.where(other.any(1), other.argmax(1), length)
    inside = rows * length - int(tail.sum())
    again = inside - int(other.sum())
    if np.mean(tail > 0) < _PADDED_ROWS or np.mean(tail == length) > _EMPTY_ROWS or again > _INSIDE * inside:
        return 0.0, 0.0
    return float(tail.sum()) / (rows * length), float(tail.min()) / length
