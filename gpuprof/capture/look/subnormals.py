"""How many of the numbers that operators read on the host are subnormal: too near to zero for the usual form."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gpuprof.capture.base.subnormal_share import FEWEST, LAYOUTS, measured_slowdown, subnormal_share
from gpuprof.capture.base.tensor_memory import lazily_copied

# of what a line makes again and again
_EVERY = 16


class SubnormalCounter:
    """`left_ns` says how long the look may go on. `slowdown`: how many times as long a product of subnormal numbers
    took as one of normal ones; None where none were seen."""

    def __init__(self, left_ns: Callable[[], int]):
        self._left_ns = left_ns
        self._read: dict[Hashable, int] = {}
        self.slowdown: float | None = None

    @staticmethod
    def may_have(tensor: Any) -> bool:
        """Whether it is large enough to matter, and of a type that is counted."""
        return bool(tensor.is_cpu and tensor.is_floating_point() and tensor.numel() >= FEWEST)

    def is_due(self, where: Hashable) -> bool:
        """Whether what an operator reads there is to be counted: the first ones, and of the others a few."""
        number = self._read[where] = self._read.get(where, 0) + 1
        return not number & (number - 1) or not number % _EVERY

    def count(self, tensor: Any, storage: Any) -> float | None:
        """The share among the numbers of its storage, 0..1; None where they cannot be read."""
        kind, nbytes = str(tensor.dtype).removeprefix("torch."), storage.nbytes()
        if kind not in LAYOUTS or lazily_copied(tensor) or self._left_ns() <= 0:
            return None
        address, each = storage.data_ptr(), np.dtype(kind).itemsize
        if not address or nbytes < each * FEWEST:
            return None
        content = np.ctypeslib.as_array((ctypes.c_uint8 * (nbytes // each * each)).from_address(address)).view(kind)
        share = subnormal_share(content)
        if share and self.slowdown is None:
            self.slowdown = measured_slowdown()
        return share
