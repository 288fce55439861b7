"""How fast element-wise operators, copies, reductions and norms move data, and how that compares with the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, inputs_of
from gpuprof.analyses.efficiency.device_peaks import peaks_of
from gpuprof.analyses.efficiency.moved_bytes import moved_bytes, moves
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S


@dataclass(frozen=True)
class ShapeBandwidth:
    """Calls of one operator with the same shapes: `count` calls move `bytes` in all, in `ns` of their kernels.

    `peak_bytes_per_s`: of the device's memory; None where it is unknown.
    """

    operator: str
    shapes: tuple[Shape, ...]
    count: int
    bytes: int
    ns: int
    peak_bytes_per_s: float | None

    @property
    def bytes_per_s(self) -> float | None:
        """While its kernels ran; None without time."""
        return self.bytes * NS_PER_S / self.ns if self.ns else None

    @property
    def cached(self) -> bool:
        """Faster than the memory can be: the data came out of a cache, or an input was an expanded tensor."""
        reached = self.bytes_per_s
        return reached is not None and self.peak_bytes_per_s is not None and reached > self.peak_bytes_per_s

    @property
    def peak_share(self) -> float | None:
        """`bytes_per_s` over the peak, 0..1; None where the peak is unknown, or more than that was reached."""
        reached, peak = self.bytes_per_s, self.peak_bytes_per_s
        return reached / peak if reached is not None and peak and not self.cached else None


@dataclass(frozen=True, eq=False)
class Bandwidth(Result):
    """Of the first device; all of it empty or None where no shapes were recorded, or on a CPU run.

    `shapes`: the longest time first. `covered_share`: their part of the time of all kernels, 0..1. `bytes` are moved in
    `ns` by those of them that are not `cached`; `peak_share`: that rate over `peak_bytes_per_s`, the vendor's figure,
    0..1, None where it is unknown.
    """

    shapes: tuple[ShapeBandwidth, ...] = ()
    covered_share: float | None = None
    bytes: int = 0
    ns: int = 0
    peak_bytes_per_s: float | None = None

    @property
    def bytes_per_s(self) -> float | None:
        """Of all that is not cached; None without time."""
        return self.bytes * NS_PER_S / self.ns if self.ns else None

    @property
    def peak_share(self) -> float | None:
        """0..1."""
        reached, peak = self.bytes_per_s, self.peak_bytes_per_s
        return reached / peak if reached is not None and peak else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """By the kernels that such operators launch themselves."""
        device, kernels = results.get(DeviceActivity).primary, results.get(KernelOrigins)
        if device is None or not kernels.count:
            return cls()
        peaks = peaks_of(trace.device(device.id))
        peak = peaks.bandwidth_bytes_per_s if peaks else None
        rows, spent = _calls(trace, kernels)
        found: dict[tuple[str, tuple[Shape, ...], int], list[int]] = {}
        for row, ns in zip(rows.tolist(), spent.tolist(), strict=True):
            name, inputs = trace.names[trace.operators["name"][row]], inputs_of(trace, row)
            moved = moved_bytes(name, inputs)
            if moved:
                key = name, tuple(each.dims for each in inputs if each.dims), moved
                found.setdefault(key, []).append(ns)
        shapes = [
            ShapeBandwidth(name, dims, len(ns), moved * len(ns), sum(ns), peak)
            for (name, dims, moved), ns in found.items()
        ]
        whole_ns = int(kernels.duration_ns.sum())
        real = [each for each in shapes if not each.cached]
        return cls(
            shapes=tuple(sorted(shapes, key=lambda each: -each.ns)),
            covered_share=sum(each.ns for each in shapes) / whole_ns if shapes and whole_ns else None,
            bytes=sum(each.bytes for each in real),
            ns=sum(each.ns for each in real),
            peak_bytes_per_s=peak,
        )


def _calls(trace: Trace, kernels: KernelOrigins) -> tuple[Array, Array]:
    """The operators that are counted, rows of `operators`, and the time of the kernels of each."""
    wanted = np.fromiter((moves(name) for name in trace.names), bool, len(trace.names))
    owned = kernels.operator >= 0
    owned[owned] = wanted[trace.operators["name"][kernels.operator[owned]]]
    rows, place = np.unique(kernels.operator[owned], return_inverse=True)
    spent = np.bincount(place.reshape(-1), kernels.duration_ns[owned], len(rows)).astype(np.int64)
    return rows, spent
