"""Large plain tensors on the host, and NumPy's arrays, as arrays in place: for a look at a few of their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gpuprof.capture.base.tensor_memory import array_of, storage_of
from gpuprof.capture.memory.array_memory import is_array, storages_of_array

LEAST_CONTENT_BYTES = 32 << 20
_MOST_DIMENSIONS = 5
_NUMBERS = "biuf"
_FEWEST_ROWS = 24
_MOST_ROWS = 64
_MOST_READ = 1 << 20
_LONGEST_ROW = 1 << 16
_BLOCKS = 16
_BLOCK = 1 << 12


def dense_array(value: Any, fewest_dimensions: int = 2) -> Any:
    """The memory of a plain dense tensor or array with that many dimensions; bfloat16 as the integers of its bits. None
    for a small one and for any other."""
    if is_array(value):
        return value if _is_dense(value, fewest_dimensions) else None
    import torch

    if type(value) is not torch.Tensor or value.device.type != "cpu" or value.layout is not torch.strided:
        return None
    size = value.numel() * value.element_size()
    dense = size <= storage_of(value).nbytes()
    if size < LEAST_CONTENT_BYTES or not dense or not fewest_dimensions <= value.dim() <= _MOST_DIMENSIONS:
        return None
    if value.is_complex() or value.is_quantized or value.is_neg():
        return None
    plain = value.detach()
    # NumPy does not know bfloat16: its bits are as good
    try:
        return array_of(plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain)
    except (RuntimeError, TypeError):  # torch without NumPy, or a type that NumPy does not know
        return None


def by_memory(array: Any) -> Any:
    """With its axes in the order of their strides: a row lies together."""
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))


def sampled_rows(array: Any) -> list[Any]:
    """Some evenly spaced rows, or parts of long ones: about a million numbers at most."""
    import numpy as np

    shape = array.shape
    axes = next((axes for axes in range(1, array.ndim) if math.prod(shape[:axes]) >= _MOST_ROWS), array.ndim - 1)
    number, length = math.prod(shape[:axes]), math.prod(shape[axes:])
    rows = min(number, max(_FEWEST_ROWS, min(_MOST_ROWS, _MOST_READ // length)))
    spots = (at * (number - 1) // max(rows - 1, 1) for at in range(rows))
    return [_part(array[np.unravel_index(spot, shape[:axes])]) for spot in spots]


def sampled_blocks(array: Any) -> Iterator[Any]:
    """Evenly spaced parts of it in memory, the last one at its end: a quarter of a million
    numbers at most."""
    array = by_memory(array)
    array = array.reshape(-1) if array.flags.c_contiguous else array
    length = min(max(_BLOCK * len(array) // array.size, 1), len(array))
    number = min(_MOST_ROWS, len(array) // length)
    for at in range(number):
        begin = at * (len(array) - length) // max(number - 1, 1)
        yield array[begin : begin + length] if length > 1 else _part(array[begin], _BLOCK)


def _is_dense(array: Any, fewest_dimensions: int) -> bool:
    if array.nbytes < LEAST_CONTENT_BYTES or not fewest_dimensions <= array.ndim <= _MOST_DIMENSIONS:
        return False
    whole = sum(size for _, size in storages_of_array(array))
    spread = all(stride or size == 1 for stride, size in zip(array.strides, array.shape, strict=True))
    return array.dtype.kind in _NUMBERS and array.nbytes <= whole and spread


def _part(row: Any, most: int = _LONGEST_ROW) -> Any:
    """The row, or evenly spaced parts of one that is longer than `most`: a quarter of that."""
    import numpy as np

    if row.size <= most:
        return row
    part = most // 4
    if row.ndim > 1 and len(row) > 1:
        step = math.ceil(len(row) * part / row.size)
        inner = [_part(row[at], most) for at in range(0, len(row), max(len(row) // max(step, 1), 1))]
        return np.concatenate([each.ravel() for each in inner])[:most]
    row = row.reshape(-1)
    length = part // _BLOCKS
    begins = (at * (row.size - length) // (_BLOCKS - 1) for at in range(_BLOCKS))
    return np.concatenate([row[begin : begin + length] for begin in begins])
