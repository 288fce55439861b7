"""What a device's hash has to be, by numpy."""

from __future__ import annotations

import numpy as np

from gpuprof.capture.look.device_hash import BLOCK, ROW_BYTES, SUMS
from gpuprof.capture.look.fingerprints import HostHash, weights
from gpuprof.model.table import Array


def device_hash(content: Array) -> int:
    """Of an array of bytes, unsealed."""
    rows = content if content.nbytes <= ROW_BYTES else _rows(content)
    return HostHash().of(rows.ctypes.data, rows.nbytes)


def factors() -> Array:
    """The weights of a block's bytes: one column for each of its sums."""
    with np.errstate(over="ignore"):
        numbers = weights(np.arange(BLOCK, dtype=np.int64))
    return (numbers.view(np.int8).reshape(BLOCK, SUMS) | 1).astype(np.int64)


def _rows(content: Array) -> Array:
    """The sums of all blocks, and what fills none."""
    whole = content.nbytes // BLOCK * BLOCK
    sums = content[:whole].view(np.int8).reshape(-1, BLOCK).astype(np.int64) @ factors()
    return np.concatenate([sums.astype(np.int32).view(np.uint8).ravel(), content[whole:]])
