"""Which share of its positions a mask or a target leaves out: zeros of a factor, numbers that a loss ignores.

Masks and targets are small. On the host they are read, on a CUDA device two small operators are enqueued on the current
stream and read back once, at the end. No random numbers are drawn.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuprof.capture.base.tensor_memory import lazily_copied
from gpuprof.capture.look.values import has_storage
from gpuprof.model.table import Array

_MOST_ELEMENTS = 1 << 20
_MOST_COUNTS, _MOST_ON_DEVICES = 4_000, 500
_TYPES = {
    "torch.bool": np.uint8,
    "torch.uint8": np.uint8,
    "torch.int8": np.int8,
    "torch.int32": np.int32,
    "torch.int64": np.int64,
    "torch.float32": np.float32,
    "torch.float64": np.float64,
    "torch.float16": np.float16,
}
_LOSSES = frozenset({"aten::nll_loss_forward", "aten::nll_loss2d_forward"})
_WEIGHED = frozenset({"aten::binary_cross_entropy", "aten::binary_cross_entropy_with_logits"})
# how many arguments there are, with the one that is asked for
_IGNORED_AT, _WEIGHT_AT = 4, 2

Left = float | tuple[str, int]
"""On the host the share, NaN where it is not known; of a device where it will be."""


class LeftOutCounter:
    """Counts masks and targets of operators that are about to run; `told` gives what `count` returned in numbers."""

    def __init__(self) -> None:
        self._counts = 0
        self._waiting: dict[str, list[tuple[Any, int]]] = {}
        self._read_back: dict[str, list[float]] = {}
        self.failure: str | None = None

    def count(self, name: str, given: Sequence[Any]) -> Left:
        """The share of positions that this operator leaves out of what follows, 0..1. `given`: its arguments in the
        schema's order. Of a product the factor that autograd does not follow is the mask."""
        found = _mask(name.partition(".")[0], given)
        if found is None:
            return math.nan
        mask, number, equal = found
        if self._counts >= _MOST_COUNTS or str(mask.dtype) not in _TYPES or not has_storage(mask):
            return math.nan
        shape, strides = _distinct(mask)
        if not 1 < math.prod(shape) <= _MOST_ELEMENTS:
            return math.nan
        self._counts += 1
        if mask.device.type == "cuda":
            return self._enqueue(mask.detach().as_strided(shape, strides), number, equal)
        address = 0 if lazily_copied(mask) else _address(mask)
        if not address:
            return math.nan
        alike = float(np.mean(_content(address, mask, shape, strides) == number))
        return alike if equal else 1 - alike

    def told(self, left: Left) -> float:
        """Waits for the device that it is on."""
        if not isinstance(left, tuple):
            return left
        device, number = left
        if device not in self._read_back:
            self._read_back[device] = self._numbers(device)
        known = self._read_back[device]
        return known[number] if number < len(known) else math.nan

    def _enqueue(self, mask: Any, number: int, equal: bool) -> Left:
        import torch

        device = str(mask.device)
        waiting = self._waiting.setdefault(device, [])
        if self.failure is not None or len(waiting) >= _MOST_ON_DEVICES or torch.cuda.is_current_stream_capturing():
            return math.nan
        try:
            with torch.cuda.device(mask.device):
                waiting.append((((mask == number) if equal else (mask != number)).sum(), mask.numel()))
        except RuntimeError as error:  # out of memory: the cell needs it more
            self.failure = str(error)[:200]
            return math.nan
        return device, len(waiting) - 1

    def _numbers(self, device: str) -> list[float]:
        import torch

        try:
            torch.cuda.synchronize(device)
            counts = torch.stack([each for each, _ in self._waiting[device]]).tolist()
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self.failure = str(error)[:200]
            return []
        sizes = [size for _, size in self._waiting.pop(device)]
        return [count / size for count, size in zip(counts, sizes, strict=True)]


def _mask(name: str, given: Sequence[Any]) -> tuple[Any, int, bool] | None:
    """A tensor, a number, and whether the elements that equal it leave something out, or all others."""
    if name in ("aten::mul", "aten::mul_") and len(given) == 2 and hasattr(given[1], "requires_grad"):
        one, other = given
        if one.requires_grad != other.requires_grad:
            return other if one.requires_grad else one, 0, True
    if name in ("aten::masked_fill", "aten::masked_fill_") and given[0].requires_grad:
        return given[1], 0, False
    if name == "aten::where" and len(given) == 3:
        followed = [getattr(each, "requires_grad", False) for each in given[1:]]
        return (given[0], 0, followed[0]) if followed[0] != followed[1] else None
    if name in _LOSSES and len(given) > _IGNORED_AT and given[0].requires_grad:
        return given[1], int(given[_IGNORED_AT]), True
    if name in _WEIGHED and len(given) > _WEIGHT_AT and given[0].requires_grad and given[_WEIGHT_AT] is not None:
        return given[_WEIGHT_AT], 0, True
    return None


def _distinct(tensor: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Its shape and strides, without the axes along which it is expanded."""
    axes = [(size, step) for size, step in zip(tensor.shape, tensor.stride(), strict=True) if step or size == 1]
    return tuple(size for size, _ in axes), tuple(step for _, step in axes)


def _address(tensor: Any) -> int:
    """Of its first element. Asked of the storage: a tensor that is asked counts as read outside of torch."""
    import torch

    start = torch._C.TensorBase.untyped_storage(tensor).data_ptr()
    return start + tensor.storage_offset() * tensor.element_size() if start else 0


def _content(address: int, tensor: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    each = tensor.element_size()
    span = 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    flat = np.ctypeslib.as_array((ctypes.c_uint8 * (span * each)).from_address(address))
    kind = flat.view(_TYPES[str(tensor.dtype)])
    return np.lib.stride_tricks.as_strided(kind, shape, tuple(step * each for step in strides))
