"""The share of subnormal numbers in an array (too near to zero for the usual form), and what they cost here.

Many processors take many times as long for arithmetic on these, others do not: so a product of some of them is timed
against one of normal numbers, on the thread that the cell runs on. That also shows whether they are flushed to zero
there. Numbers are read as whole ones, by a sample: that costs the same for all.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

from gpuprof.model.table import Array

# by type an unsigned number of its size, the bits of the exponent, and those of the fraction
LAYOUTS = {
    "float32": (np.uint32, 0x7F80_0000, 0x007F_FFFF),
    "float64": (np.uint64, 0x7FF0_0000_0000_0000, 0x000F_FFFF_FFFF_FFFF),
}
# operators on fewer take as long as starting them
FEWEST = 1_024
_SAMPLE = 1_024
_GOLDEN = (5**0.5 - 1) / 2
# in float32
_SUBNORMAL, _NORMAL, _FACTOR, _TIMED, _TIMES = 1e-39, 1.5, 0.75, 4_096, 5


def subnormal_share(numbers: Any) -> float:
    """Of a flat array of float32 or float64, 0..1, by a sample."""
    kind, exponent, fraction = LAYOUTS[numbers.dtype.name]
    chosen = numbers.view(kind)[_places(len(numbers))]
    found = (chosen & kind(exponent) == 0) & (chosen & kind(fraction) != 0)
    return float(np.count_nonzero(found)) / len(chosen)


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
