"""How much of a batch of sequences is padding, read from its attention mask without an operator being recorded."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

_MASK = "attention_mask"
_ELEMENTS = {"torch.int64": ctypes.c_int64, "torch.int32": ctypes.c_int32, "torch.bool": ctypes.c_uint8}
_MOST_PARTS = 4


class Padding(NamedTuple):
    """Of one batch or of several, in tokens: `real` ones, all `positions`, and the positions there would be if each
    batch were padded to its own longest sequence only (`to_longest`)."""

    real: int = 0
    positions: int = 0
    to_longest: int = 0

    def plus(self, other: Padding) -> Padding:
        """Both together."""
        return Padding(self.real + other.real, self.positions + other.positions, self.to_longest + other.to_longest)


def padding_of(batch: Any) -> Padding | None:
    """Of a mapping with an `attention_mask` of shape (sequences, positions) in host memory, 0 where there is padding,
    or of a tuple that holds such a mapping; None for every other batch.

    The mask is read in place: torch's own ways to NumPy would appear as operators in the recording.
    """
    for part in _mappings(batch):
        mask: Any = part.get(_MASK)
        element = _ELEMENTS.get(str(getattr(mask, "dtype", None)))
        if element is None or mask.dim() != 2 or mask.device.type != "cpu" or not mask.is_contiguous():
            continue
        rows, columns = mask.shape
        if not rows * columns:
            continue
        memory = (element * (rows * columns)).from_address(mask.data_ptr())
        lengths = np.count_nonzero(np.ctypeslib.as_array(memory).reshape(rows, columns), axis=1)
        return Padding(int(lengths.sum()), rows * columns, rows * int(lengths.max()))
    return None


def _mappings(batch: Any) -> Iterator[Mapping[Any, Any]]:
    parts = batch[:_MOST_PARTS] if isinstance(batch, (tuple, list)) else (batch,)
    return (part for part in parts if isinstance(part, Mapping))
