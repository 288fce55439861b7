"""How fast copies from pinned memory are, or would be."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind, HostMemory

# smaller ones take as long as they take to start
_LEAST_BYTES = 1 << 20


def pinned_bytes_per_s(results: Results) -> float | None:
    """The median that pinned copies of this run reach, else what the device's link is known to give; None without."""
    copies = results.get(Copies).of_direction(CopyKind.H2D)
    pinned = copies.take((copies["host_memory"] == HostMemory.PINNED) & (copies["bytes"] >= _LEAST_BYTES))
    if len(pinned):
        return float(np.nanmedian(pinned["bandwidth_bytes_per_s"]))
    primary = results.get(DeviceActivity).primary
    return results.device(primary.id).link_bytes_per_s if primary else None
