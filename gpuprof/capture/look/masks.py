"""How many elements of the masks and flags by which operators select are zero, or False.

On the host they are counted. On a CUDA device one reduction each is enqueued on the current stream, and all of them are
read back once, at the end. Nothing is kept alive.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuprof.capture.base.tensor_memory import lazily_copied
from gpuprof.capture.look.padding import is_index

# what selects among the arguments, by the name of the operator without namespace and overload; of these in place, too
_OPERANDS = {
    "where": ("condition",),
    "masked_fill": ("self", "mask"),
    "index_put": ("self", "indices", "values"),
    **dict.fromkeys(("bitwise_or", "bitwise_and", "logical_or", "logical_and", "mul"), ("self", "other")),
}
_OPERANDS |= {f"{name}_": operands for name, operands in _OPERANDS.items()}
_OPERANDS = {f"aten::{name}": operands for name, operands in _OPERANDS.items()}
_FLAG = "torch.bool"
# by type an unsigned number of its size, and up to how many elements are counted; but for flags only as a factor of a
# product, where they are as few as masks of a batch have
_WHOLE, _FLOATS = 1 << 14, (1 << 10) - 1
_LAYOUTS: dict[str, tuple[Any, int]] = {
    _FLAG: (np.uint8, 1 << 22),
    "torch.uint8": (np.uint8, _WHOLE),
    "torch.int32": (np.uint32, _WHOLE),
    "torch.int64": (np.uint64, _WHOLE),
    "torch.float16": (np.uint16, _FLOATS),
    "torch.bfloat16": (np.uint16, _FLOATS),
    "torch.float32": (np.uint32, _FLOATS),
    "torch.float64": (np.uint64, _FLOATS),
}
_PRODUCT = "aten::mul"
# read in a ns, roughly, at worst
_BYTES_A_NS = 1
_MOST_SLOTS = 4_096
_ON_DEVICE = "masks on "

Share = tuple[float, int]
"""The share of zeros, NaN where it is not known, and 0."""


def selecting(name: str) -> Sequence[str]:
    """The arguments of that operator that may be masks."""
    return _OPERANDS.get(name.partition(".")[0], ())


class MaskCounter:
    """`left_ns` says how long the look may go on. `told` gives what `count` returned as numbers."""

    def __init__(self, left_ns: Callable[[], int]):
        self._left_ns = left_ns
        self._waiting: dict[str, list[tuple[Any, int]]] = {}
        self._read_back: dict[str, list[Share]] = {}
        self.failure: str | None = None

    def count(self, tensor: Any, storage: Any, name: str) -> Share | tuple[str, int] | None:
        """Of an argument of the operator of that name; None where it is no mask, not the whole of its storage, or has
        an element of another number first."""
        dtype, nbytes = str(tensor.dtype), storage.nbytes()
        layout, most = _LAYOUTS.get(dtype, (None, 0))
        if layout is None or (dtype != _FLAG and (not name.startswith(_PRODUCT) or is_index(tensor))):
            return None
        elements = nbytes // tensor.element_size()
        if not 0 < elements <= most or not _covers(tensor, elements):
            return None
        if tensor.device.type == "cpu":
            address = 0 if lazily_copied(tensor) else storage.data_ptr()
            known = address and nbytes <= self._left_ns() * _BYTES_A_NS
            return _on_host(address, nbytes, layout, flags=dtype == _FLAG) if known else None
        return self._enqueue(tensor, elements) if tensor.device.type == "cuda" else None

    @staticmethod
    def waits(counted: tuple[float, int] | tuple[str, int]) -> bool:
        """Whether that is to be read back from a device."""
        return isinstance(counted[0], str) and counted[0].startswith(_ON_DEVICE)

    def told(self, counted: tuple[str, int]) -> Share:
        """Waits for the device that it is on."""
        where, number = counted
        if where not in self._read_back:
            self._read_back[where] = self._numbers(where)
        known = self._read_back[where]
        return known[number] if number < len(known) else (math.nan, 0)

    def _enqueue(self, tensor: Any, elements: int) -> tuple[str, int] | None:
        import torch

        where = f"{_ON_DEVICE}{tensor.device}"
        waiting = self._waiting.setdefault(where, [])
        if self.failure is not None or len(waiting) >= _MOST_SLOTS or torch.cuda.is_current_stream_capturing():
            return None
        try:
            with torch.cuda.device(tensor.device):
                waiting.append((count_on_device(tensor), tensor.numel()))
        except RuntimeError as error:  # out of memory: the cell needs it more
            self.failure = str(error)[:200]
            return None
        return where, len(waiting) - 1

    def _numbers(self, where: str) -> list[Share]:
        import torch

        try:
            device = where.removeprefix(_ON_DEVICE)
            if device.startswith("cuda"):
                torch.cuda.synchronize(device)
            waiting = self._waiting.pop(where)
            filled = torch.stack([each for each, _ in waiting]).tolist()
            return [(1 - count / elements, 0) for count, (_, elements) in zip(filled, waiting, strict=True)]
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self.failure = str(error)[:200]
            return []


def count_on_device(tensor: Any) -> Any:
    """How many elements are not zero, as a tensor on its device: nothing is waited for."""
    import torch

    return torch.count_nonzero(tensor.detach())


def _covers(tensor: Any, elements: int) -> bool:
    """Whether it has each element of its storage; an expanded axis repeats them."""
    if tensor.storage_offset():
        return False
    distinct = math.prod(
        size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride or size == 1
    )
    return bool(distinct == elements)


def _on_host(address: int, nbytes: int, layout: Any, *, flags: bool) -> Share | None:
    content = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address)).view(layout)
    if not flags and content[0]:
        return None
    return 1 - int(np.count_nonzero(content)) / len(content), 0
