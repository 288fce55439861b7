"""How much of a batch of sequences is padding, read in place without an operator being recorded."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gpuprof.capture.base.tensor_memory import address_of

_MASK = "attention_mask"
_NUMBERS = {"torch.int64": ctypes.c_int64, "torch.int32": ctypes.c_int32}
_ELEMENTS = {**_NUMBERS, "torch.bool": ctypes.c_uint8}
_MOST_PARTS = 16
# of fewer rows, positions or different tokens the same look comes by chance, or is that of labels
_FEWEST_ROWS = 4
_FEWEST_POSITIONS = 8
_FEWEST_TOKENS = 8
_SOME_ROWS = 8
# reading more takes longer than a millisecond
_MOST_TOKENS = 1 << 18


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
    """Of a batch (a tensor, or a mapping or tuple of some, one within another at most) in host memory that says where
    its sequences end: by an `attention_mask` of shape (sequences, positions), 0 where there is padding; by another mask
    of booleans, if each of its rows is true up to one place and false from there on and another part has as many
    sequences and positions; by tokens, if their rows end in one number that stands nowhere else (whole numbers whose
    rows do not are all real). None for others.

    Memory is read as it is: torch's own ways to NumPy would appear as operators in the recording.
    """
    parts = list(_tensors(batch))
    for name, tensor in parts:
        if name == _MASK and (rows := _rows(tensor, _ELEMENTS)) is not None:
            return _counted(np.count_nonzero(rows, axis=1), rows.shape)
    for _, tensor in parts:
        if (rows := _rows(tensor, {"torch.bool": ctypes.c_uint8})) is not None and _is_beside(tensor, parts):
            lengths = np.count_nonzero(rows, axis=1)
            if _is_long(rows) and (rows.astype(bool) == (np.arange(rows.shape[1]) < lengths[:, None])).all():
                return _counted(lengths, rows.shape)
    for _, tensor in parts:
        if (rows := _rows(tensor, _NUMBERS)) is None or rows.size > _MOST_TOKENS or not _is_long(rows):
            continue
        if len(np.unique(rows[:_SOME_ROWS])) >= _FEWEST_TOKENS:
            return _counted(_ends(rows), rows.shape)
    return None


def _counted(lengths: Any, shape: tuple[int, ...]) -> Padding:
    rows, columns = shape
    return Padding(int(lengths.sum()), rows * columns, rows * int(lengths.max()))


def _is_long(rows: Any) -> bool:
    return bool(rows.shape[0] >= _FEWEST_ROWS and rows.shape[1] >= _FEWEST_POSITIONS)


def _is_beside(mask: Any, parts: list[tuple[str, Any]]) -> bool:
    """Whether there is something that the mask is of."""
    return any(tensor is not mask and tuple(tensor.shape[:2]) == tuple(mask.shape) for _, tensor in parts)


def _ends(rows: Any) -> Any:
    """Where in each row the number begins that fills it to its end; their ends where it stands elsewhere, too."""
    whole = np.full(len(rows), rows.shape[1])
    numbers, times = np.unique(rows[:, -1], return_counts=True)
    other = rows != numbers[times.argmax()]
    lengths = np.count_nonzero(other, axis=1)
    if 2 * times.max() < len(rows) or lengths.min() in (0, lengths.max()) or lengths.min() >= rows.shape[1] - 1:
        return whole
    return lengths if (other == (np.arange(rows.shape[1]) < lengths[:, None])).all() else whole


def _rows(tensor: Any, elements: Mapping[str, Any]) -> Any:
    """The array that a tensor of two dimensions keeps in host memory; None for others."""
    element = elements.get(str(getattr(tensor, "dtype", None)))
    if (
        element is None
        or str(tensor.layout) != "torch.strided"
        or tensor.dim() != 2
        or tensor.device.type != "cpu"
        or not tensor.is_contiguous()
    ):
        return None
    rows, columns = tensor.shape
    if not rows * columns:
        return None
    memory = (element * (rows * columns)).from_address(address_of(tensor))
    return np.ctypeslib.as_array(memory).reshape(rows, columns)


def _tensors(batch: Any, within: bool = False) -> Iterator[tuple[str, Any]]:
    if isinstance(batch, Mapping):
        parts = [(str(name), part) for name, part in batch.items()][:_MOST_PARTS]
    elif isinstance(batch, (tuple, list)):
        parts = [("", part) for part in batch[:_MOST_PARTS]]
    else:
        parts = [("", batch)]
    for name, part in parts:
        if isinstance(part, (Mapping, tuple, list)):
            if not within:
                yield from _tensors(part, within=True)
        elif hasattr(part, "dtype") and hasattr(part, "layout") and hasattr(part, "shape"):
            yield name, part
