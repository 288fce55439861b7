"""How many of the numbers that operators read on the host are subnormal: too near to zero for the usual form.

Many processors take many times as long for arithmetic on these, others do not. So once, when the first are seen, a
product of some of them is timed against one of normal numbers, on the thread that the cell runs on: that also shows
whether they are flushed to zero there. Numbers are read as whole ones, by a sample: that costs the same for all.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gpuprof.capture.look.fingerprint_taker import lazily_copied
from gpuprof.model.table import Array

# by type an unsigned number of its size, the bits of the exponent, and those of the fraction
_LAYOUTS = {
    "torch.float32": (np.uint32, 0x7F80_0000, 0x007F_FFFF),
    "torch.float64": (np.uint64, 0x7FF0_0000_0000_0000, 0x000F_FFFF_FFFF_FFFF),
}
# operators on fewer take as long as starting them
FEWEST = 1_024
_SAMPLE = 1_024
# of what a line makes again and again
_EVERY = 16
_GOLDEN = (5**0.5 - 1) / 2
# in float32
_SUBNORMAL, _NORMAL, _FACTOR, _TIMED, _TIMES = 1e-39, 1.5, 0.75, 4_096, 5


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
        layout, nbytes = _LAYOUTS.get(str(tensor.dtype)), storage.nbytes()
        if layout is None or lazily_copied(tensor) or self._left_ns() <= 0:
            return None
        kind, exponent, fraction = layout
        address, each = storage.data_ptr(), np.dtype(kind).itemsize
        if not address or nbytes < each * FEWEST:
            return None
        content = np.ctypeslib.as_array((ctypes.c_uint8 * (nbytes // each * each)).from_address(address)).view(kind)
        chosen = content[_places(len(content))]
        found = (chosen & kind(exponent) == 0) & (chosen & kind(fraction) != 0)
        share = float(np.count_nonzero(found)) / len(chosen)
        if share and self.slowdown is None:
            self.slowdown = measured_slowdown()
        return share


@functools.lru_cache(maxsize=64)
def _places(count: int) -> Array:
    """Far apart from each other, and in step with no row or column."""
    return (np.arange(_SAMPLE) * _GOLDEN % 1 * count).astype(np.int64)


def measured_slowdown() -> float:
    """How many times as long this thread takes to multiply subnormal numbers as normal ones: the best of some times."""
    taken = []
    for number in (_NORMAL, _SUBNORMAL):
        numbers, made = np.full(_TIMED, number, np.float32), np.empty(_TIMED, np.float32)
        factor, times = np.float32(_FACTOR), []
        for _ in range(_TIMES):
            began = time.perf_counter_ns()
            np.multiply(numbers, factor, out=made)
            times.append(time.perf_counter_ns() - began)
        taken.append(max(min(times), 1))
    return taken[1] / taken[0]
