"""How often the tensors and arrays of a variable were seen with subnormal numbers, in looks over the whole cell.

What decays gets there late: after the close look.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from gpuprof.capture.base.subnormal_share import FEWEST, LAYOUTS, measured_slowdown, subnormal_share
from gpuprof.capture.base.tensor_memory import address_of, lazily_copied

_EVERY = 4
# of the numbers: each of these takes a hundred times as long where they are slow
_LEAST_SHARE = 0.01


class SubnormalLooks:
    """Of one variable. `found`: in how many looks, `share` of those at numbers; `double`: at numbers of float64.

    `times_slower`: how many times as long the thread took for a product of such numbers as of normal ones, 0 where
    there were none."""

    def __init__(self) -> None:
        self._values = self._looks = self.found = 0
        self.double = False
        self.times_slower = 0.0

    def note(self, value: Any) -> None:
        """Look at the first values, and at some of the later ones."""
        self._values += 1
        if self._values & (self._values - 1) and self._values % _EVERY:
            return
        numbers = _numbers(value)
        if numbers is None:
            return
        self._looks += 1
        if subnormal_share(numbers) < _LEAST_SHARE:
            return
        if not self.found:
            self.times_slower = measured_slowdown()
        self.found += 1
        self.double = self.double or numbers.dtype.itemsize > np.dtype(np.float32).itemsize

    @property
    def share(self) -> float:
        """0..1."""
        return self.found / max(self._looks, 1)


def _numbers(value: Any) -> Any:
    """What it holds in its memory, flat; None where that cannot be read in place, or is too little to matter."""
    torch, kind = sys.modules.get("torch"), type(value)
    if kind is np.ndarray:
        if value.dtype.name not in LAYOUTS or value.size < FEWEST or not value.dtype.isnative:
            return None
        return value.reshape(-1) if value.flags.c_contiguous else None
    # half imported modules lack it; a mode of the user's would be asked
    asked = getattr(getattr(torch, "_C", None), "_len_torch_function_stack", None)
    if torch is None or asked is None or kind not in (torch.Tensor, torch.nn.Parameter) or asked():
        return None
    if value.layout is not torch.strided or value.device.type != "cpu" or not value.is_contiguous():
        return None
    name = str(value.dtype).removeprefix("torch.")
    if name not in LAYOUTS or value.numel() < FEWEST or lazily_copied(value):
        return None
    memory = (ctypes.c_uint8 * (value.numel() * value.element_size())).from_address(address_of(value))
    return np.ctypeslib.as_array(memory).view(name)
