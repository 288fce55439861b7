"""How many elements of the operands of large products are zeros, and where the others are.

On the host a sample of some thousand elements is read; where that has hardly anything but zeros, all of them. On a CUDA
device, on request alone, a few reductions are enqueued on the current stream and read back once, at the end. No random
numbers are drawn, and nothing is kept alive.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from gpuprof.capture.base.tensor_memory import lazily_copied
from gpuprof.capture.look.masks import MaskCounter
from gpuprof.capture.look.padding import is_index, padded
from gpuprof.capture.look.subnormals import SubnormalCounter
from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.table import Array

# the matrices of a product among its arguments, by the name of the operator without overload; and indices, which may be
# padded
_OPERANDS = {
    "aten::mm": ("self", "mat2"),
    "aten::bmm": ("self", "mat2"),
    "aten::addmm": ("mat1", "mat2"),
    "aten::_addmm_activation": ("mat1", "mat2"),
    "aten::baddbmm": ("batch1", "batch2"),
    "aten::mv": ("self",),
    "aten::addmv": ("mat",),
    "aten::matmul": ("self", "other"),
    "aten::linear": ("input", "weight"),
    "aten::embedding": ("indices",),
}
# smaller operands make small products; on request, those too
_FEWEST, _FEWEST_INSPECTED = 65_536, 1_024
_MOST_BYTES, _MOST_INSPECTED_BYTES = 256 * 1024**2, 4 * 1024**3
_SAMPLE, _LARGE_SAMPLE = 4_096, 65_536
# of a sample: what has fewer zeros is not counted whole
_MOSTLY = 0.95
# read in a ns, roughly, at worst
_BYTES_A_NS = 1
_PIECE = 131_072
_GOLDEN = (math.sqrt(5) - 1) / 2
# the unsigned integer of that size, all bits but the sign, and those of 1.0
_LAYOUTS = {
    "torch.float16": (np.uint16, 0x7FFF, 0x3C00),
    "torch.bfloat16": (np.uint16, 0x7FFF, 0x3F80),
    "torch.float32": (np.uint32, 0x7FFF_FFFF, 0x3F80_0000),
    "torch.float64": (np.uint64, 0x7FFF_FFFF_FFFF_FFFF, 0x3FF0_0000_0000_0000),
}
# a byte for each element of it is needed on the device for a moment
_MOST_ON_DEVICE = 1 << 28
_MOST_SLOTS = 4_096

Zeros = tuple[float, int]
"""The share of zeros, NaN where it is not known, and a ZeroPattern."""
Counted = Zeros | tuple[str, int]
"""On the host what was counted, of a device where it will be."""
NOT_COUNTED: Zeros = (math.nan, int(ZeroPattern.NONE))


class ZeroCounter:
    """`left_ns` says how long the look may go on; `inspect`: smaller and larger operands count as well, and those on
    CUDA devices. `told` gives what `count` returned in numbers."""

    def __init__(self, left_ns: Callable[[], int], *, inspect: bool = False):
        self._left_ns, self._inspect = left_ns, inspect
        self._fewest = _FEWEST_INSPECTED if inspect else _FEWEST
        self._most_bytes = _MOST_INSPECTED_BYTES if inspect else _MOST_BYTES
        self._made: dict[Hashable, int] = {}
        self._waiting: dict[str, list[tuple[Any, int, int]]] = {}
        self._read_back: dict[str, list[Zeros]] = {}
        self.failure: str | None = None
        self.masks = MaskCounter(left_ns)
        self.subnormals = SubnormalCounter(left_ns)

    @staticmethod
    def operands(name: str) -> Sequence[str]:
        """The arguments of that operator that are matrices of a product, or the indices of an embedding."""
        return _OPERANDS.get(name.partition(".")[0], ())

    def is_due(self, where: Hashable) -> bool:
        """Whether a value that an operator has made is to be counted: of those that are multiplied there, the first,
        the second, the fourth and so on."""
        number = self._made[where] = self._made.get(where, 0) + 1
        return number & (number - 1) == 0

    def count(self, tensor: Any, storage: Any) -> Counted:
        """Of a tensor that is about to be multiplied; not counted where it does not fill its storage. Of indices those
        that are padding."""
        if is_index(tensor):
            return NOT_COUNTED if lazily_copied(tensor) else padded(tensor)
        if tensor.numel() < self._fewest or str(tensor.dtype) not in _LAYOUTS or not _fills(tensor, storage):
            return NOT_COUNTED
        shape = _in_memory(tensor)
        if tensor.device.type == "cpu":
            address = 0 if lazily_copied(tensor) else storage.data_ptr()
            return self._on_host(address, storage.nbytes(), str(tensor.dtype), shape) if address else NOT_COUNTED
        return self._enqueue(tensor, shape) if tensor.device.type == "cuda" and self._inspect else NOT_COUNTED

    def told(self, counted: Counted) -> Zeros:
        """Waits for the device that it is on."""
        where, number = counted
        if not isinstance(where, str):
            return where, number
        if self.masks.waits((where, number)):
            return self.masks.told((where, number))
        if where not in self._read_back:
            self._read_back[where] = self._numbers(where)
        known = self._read_back[where]
        return known[number] if number < len(known) else NOT_COUNTED

    def _on_host(self, address: int, nbytes: int, dtype: str, shape: tuple[int, int, int]) -> Zeros:
        kind, magnitude, one = _LAYOUTS[dtype]
        content = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address)).view(kind)
        share = _sampled(content, magnitude, _SAMPLE)
        if share < _MOSTLY:
            return share, int(ZeroPattern.NONE)
        if nbytes > min(self._most_bytes, self._left_ns() * _BYTES_A_NS):
            return _sampled(content, magnitude, _LARGE_SAMPLE), int(ZeroPattern.NONE)
        places = _not_zero(content, magnitude)
        return 1 - len(places) / len(content), int(_pattern(places, content[places] == one, shape))

    def _enqueue(self, tensor: Any, shape: tuple[int, int, int]) -> Counted:
        import torch

        device = str(tensor.device)
        waiting = self._waiting.setdefault(device, [])
        if self.failure is not None or tensor.numel() > _MOST_ON_DEVICE or len(waiting) >= _MOST_SLOTS:
            return NOT_COUNTED
        if torch.cuda.is_current_stream_capturing():
            return NOT_COUNTED
        try:
            with torch.cuda.device(tensor.device):
                waiting.append((statistics_of(tensor, shape), tensor.numel(), shape[0]))
        except RuntimeError as error:  # out of memory: the cell needs it more
            self.failure = str(error)[:200]
            return NOT_COUNTED
        return device, len(waiting) - 1

    def _numbers(self, device: str) -> list[Zeros]:
        import torch

        try:
            if device.startswith("cuda"):
                torch.cuda.synchronize(device)
            return [zeros_of(each.tolist(), *facts) for each, *facts in self._waiting.pop(device)]
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self.failure = str(error)[:200]
            return []


def statistics_of(tensor: Any, shape: tuple[int, int, int]) -> Any:
    """Seven counts as one tensor on its device, with nothing waited for: elements that are not zero, the most and the
    fewest of them in a row and in a column, those on the diagonal, and those that are 1. `shape`: batch, rows and
    columns in the order of memory."""
    import torch

    _, rows, columns = shape
    whole = tensor.detach().as_strided(shape, (rows * columns, columns, 1))
    filled = whole != 0
    by_row, by_column = filled.sum(2), filled.sum(1)
    diagonal = filled.diagonal(dim1=1, dim2=2).sum()
    counts = (by_row.sum(), by_row.max(), by_row.min(), by_column.max(), by_column.min(), diagonal, (whole == 1).sum())
    return torch.stack(counts)


def zeros_of(counts: Sequence[int], elements: int, batch: int) -> Zeros:
    """What those seven counts mean."""
    filled, most_row, fewest_row, most_column, fewest_column, diagonal, ones = counts
    pattern = ZeroPattern.NONE
    if filled and filled == diagonal:
        pattern = ZeroPattern.DIAGONAL
    elif ones == filled and most_row == fewest_row == 1:
        pattern = ZeroPattern.ONE_HOT_ROWS
    elif ones == filled and most_column == fewest_column == 1:
        pattern = ZeroPattern.ONE_HOT_COLUMNS
    return 1 - filled / elements, int(pattern)


def _fills(tensor: Any, storage: Any) -> bool:
    """Whether it is one matrix or a batch of them, each element of the storage once, the batch outermost."""
    if tensor.dim() not in (2, 3) or tensor.storage_offset() or 0 in tensor.shape:
        return False
    if tensor.numel() * tensor.element_size() != storage.nbytes():
        return False
    if tensor.is_contiguous():
        return True
    batch, rows, columns = _in_memory(tensor)
    between = batch == 1 or tensor.stride(0) == rows * columns
    return bool(between and tensor.stride(-2) == 1 and tensor.stride(-1) == columns)


def _in_memory(tensor: Any) -> tuple[int, int, int]:
    """Batch, rows and columns as they lie: of a transposed matrix its columns are the rows."""
    batch = tensor.shape[0] if tensor.dim() == 3 else 1
    rows, columns = tensor.shape[-2:]
    return (batch, rows, columns) if tensor.is_contiguous() else (batch, columns, rows)


@functools.cache
def _fractions(most: int) -> Array:
    return np.arange(most) * _GOLDEN % 1


def _sampled(content: Array, magnitude: int, most: int) -> float:
    """The share of zeros of so many elements, far apart from each other and in step with no row or column."""
    count = len(content)
    places = np.arange(count) if count <= most else (_fractions(most) * count).astype(np.int64)
    return 1 - float(np.count_nonzero(content[places] & content.dtype.type(magnitude))) / len(places)


def _not_zero(content: Array, magnitude: int) -> Array:
    """The places of all elements that are not zero: words that have a bit are looked for first."""
    each = 8 // content.itemsize
    whole = len(content) // each * each
    words = content[:whole].view(np.uint64)
    found = [np.flatnonzero(words[first : first + _PIECE] != 0) + first for first in range(0, len(words), _PIECE)]
    marked = np.concatenate(found) if found else np.empty(0, np.int64)
    places = (marked[:, None] * each + np.arange(each)).reshape(-1)
    places = np.concatenate((places, np.arange(whole, len(content))))
    kept: Array = places[(content[places] & content.dtype.type(magnitude)) != 0]
    return kept


def _pattern(places: Array, ones: Array, shape: tuple[int, int, int]) -> ZeroPattern:
    batch, rows, columns = shape
    if not len(places):
        return ZeroPattern.NONE
    row, column = places // columns, places % columns
    if bool((row % rows == column).all()):
        return ZeroPattern.DIAGONAL
    if not bool(ones.all()):
        return ZeroPattern.NONE
    if len(places) == batch * rows and len(np.unique(row)) == len(row):
        return ZeroPattern.ONE_HOT_ROWS
    of_batch = row // rows * columns + column
    if len(places) == batch * columns and len(np.unique(of_batch)) == len(of_batch):
        return ZeroPattern.ONE_HOT_COLUMNS
    return ZeroPattern.NONE
