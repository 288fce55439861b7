"""How fast products, convolutions and attention calculate, and how that compares with what the device can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.analyses.efficiency.counted_operators import CountedOperators
from gpuprof.analyses.efficiency.counted_times import CountedTimes, device_times, host_times
from gpuprof.analyses.efficiency.device_peaks import DevicePeaks, peaks_of
from gpuprof.analyses.efficiency.iteration_flops import iteration_flops
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

# Below it the sums are those of a part only, and say nothing of the whole run.
LEAST_COVERED_SHARE = 0.9
# Operations of an unknown number format that are left out of the shares of peaks, which they would make larger.
MOST_UNKNOWN_SHARE = 0.01
WELL_BUSY_SHARE, WELL_USED_SHARE = 0.9, 0.6


@dataclass(frozen=True)
class ShapeEfficiency:
    """Calls of one operator with the same shapes, numbers and number format.

    `count` calls with `flops` operations in all; `ns`: the sum of their kernels' durations, on a CPU run of their own.
    `peak_flops_per_s`: of the device in that format; None where it is unknown.
    """

    operator: str
    shapes: tuple[Shape, ...]
    number_format: NumberFormat | None
    count: int
    flops: int
    ns: int
    peak_flops_per_s: float | None

    @property
    def flops_per_s(self) -> float | None:
        """Achieved while it ran; None without time."""
        return self.flops * NS_PER_S / self.ns if self.ns else None

    @property
    def peak_share(self) -> float | None:
        """`flops_per_s` over the peak, 0..1; None where the peak is unknown."""
        reached, peak = self.flops_per_s, self.peak_flops_per_s
        return reached / peak if reached is not None and peak else None


@dataclass(frozen=True, eq=False)
class Efficiency(Result):
    """Of the first device, or of the CPU where no device is.

    `shapes`: the longest time first. `flops` their operations. `running_ns`: the time in which any of their kernels
    ran (union). `covered_share`: their part of the time of all kernels (CPU run: of all operators), 0..1, and
    `covered_product_share` of the time of kernels that are products, convolutions or attention by their names.
    `flops_by_format`: most first; None is an unknown format. `iteration_flops`: of one step, else of one iteration, on
    average. `span_flops_per_s` and `busy_flops_per_s`: over the recorded span, and over the time in which the device
    did anything (CPU run: None). `peak_flops_per_s`: of the format that most operations use. `peak_share`: the time
    that the operations would take at their formats' peaks over `running_ns`; `busy_peak_share` over the busy time.
    `mfu`: model FLOPs utilization, that time over the span; with one format the same as `span_flops_per_s` over its
    peak. Layers that are calculated a second time in the backward pass count again. The shares of peaks are None where
    a peak is unknown, or `covered_product_share` is under LEAST_COVERED_SHARE: then `busy_flops_per_s`,
    `span_flops_per_s` and `iteration_flops` are of the covered part alone. `missing`: the signal without which nothing,
    or only a part, is known: `shapes`, `numbers` (of convolutions and attention), `device activity`.
    """

    on_device: bool = False
    shapes: tuple[ShapeEfficiency, ...] = ()
    flops: int = 0
    running_ns: int = 0
    covered_share: float | None = None
    covered_product_share: float | None = None
    flops_by_format: tuple[tuple[NumberFormat | None, int], ...] = ()
    iteration_flops: float | None = None
    span_flops_per_s: float | None = None
    busy_flops_per_s: float | None = None
    peak_flops_per_s: float | None = None
    peak_share: float | None = None
    busy_peak_share: float | None = None
    mfu: float | None = None
    busy_share: float | None = None
    missing: str | None = None

    @property
    def number_format(self) -> NumberFormat | None:
        """That of most operations."""
        return self.flops_by_format[0][0] if self.flops_by_format else None

    @property
    def uses_device_well(self) -> bool | None:
        """Whether the device is busy for at least WELL_BUSY_SHARE of the span, and the operations at their peaks would
        take at least WELL_USED_SHARE of the busy time; None where that is unknown."""
        if self.busy_share is None or self.busy_peak_share is None:
            return None
        return self.busy_share >= WELL_BUSY_SHARE and self.busy_peak_share >= WELL_USED_SHARE

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the counted operators and the time of what they launched."""
        counted, activity = results.get(CountedOperators), results.get(DeviceActivity)
        missing = _missing(counted)
        device = activity.primary
        if device is None and (trace.device_recorded is not None or trace.source.unread is not None):
            return cls(missing="device activity")
        times = host_times(trace, counted) if device is None else device_times(trace, results, counted)
        peaks = None if device is None else peaks_of(trace.device(device.id))
        shapes = _shapes(counted, times, peaks)
        if not shapes:
            return cls(on_device=device is not None, missing=missing)
        flops = sum(each.flops for each in shapes)
        by_format: dict[NumberFormat | None, int] = {}
        for each in shapes:
            by_format[each.number_format] = by_format.get(each.number_format, 0) + each.flops
        ordered = tuple(sorted(by_format.items(), key=lambda item: -item[1]))
        peak = peaks.flops_per_s(ordered[0][0]) if peaks else None
        whole = (times.covered_product_share or 0.0) >= LEAST_COVERED_SHARE
        ideal_ns = _ideal_ns(by_format, peaks) if whole else None
        busy_ns = device.busy_ns if device else 0
        return cls(
            on_device=device is not None,
            shapes=shapes,
            flops=flops,
            running_ns=times.running_ns,
            covered_share=times.covered_share,
            covered_product_share=times.covered_product_share,
            flops_by_format=ordered,
            iteration_flops=iteration_flops(trace, results, counted, times.chosen),
            span_flops_per_s=flops * NS_PER_S / trace.span_ns if trace.span_ns else None,
            busy_flops_per_s=flops * NS_PER_S / busy_ns if busy_ns else None,
            peak_flops_per_s=peak,
            peak_share=ideal_ns / times.running_ns if ideal_ns is not None and times.running_ns else None,
            busy_peak_share=ideal_ns / busy_ns if ideal_ns is not None and busy_ns else None,
            mfu=ideal_ns / trace.span_ns if ideal_ns is not None and trace.span_ns else None,
            busy_share=device.busy_share if device else None,
            missing=missing,
        )


def _missing(counted: CountedOperators) -> str | None:
    if counted.unshaped:
        return "shapes"
    return "numbers" if len(counted.row) < counted.products else None


def _shapes(counted: CountedOperators, times: CountedTimes, peaks: DevicePeaks | None) -> tuple[ShapeEfficiency, ...]:
    """One for each combination of shape and number format, those that took longest first."""
    formats = (None, *NumberFormat)
    keys = counted.shape[times.chosen] * len(formats) + [formats.index(each) for each in times.formats]
    kinds, group, count = np.unique(keys.astype(np.int64), return_inverse=True, return_counts=True)
    total = np.bincount(group, times.ns, len(kinds)).astype(np.int64)
    found = []
    for kind, calls, ns in zip(kinds.tolist(), count.tolist(), total.tolist(), strict=True):
        shape, number_format = counted.shapes[kind // len(formats)], formats[kind % len(formats)]
        peak = peaks.flops_per_s(number_format) if peaks else None
        found.append(ShapeEfficiency(shape.operator, shape.shapes, number_format, calls, calls * shape.flops, ns, peak))
    return tuple(sorted(found, key=lambda each: -each.ns))


def _ideal_ns(by_format: Mapping[NumberFormat | None, int], peaks: DevicePeaks | None) -> float | None:
    """How long the operations take at their formats' peaks; None where one of them is unknown."""
    if peaks is None:
        return None
    total, unknown = 0.0, 0
    for number_format, flops in by_format.items():
        peak = peaks.flops_per_s(number_format)
        unknown += 0 if peak else flops
        total += flops * NS_PER_S / peak if peak else 0.0
    return total if unknown <= MOST_UNKNOWN_SHARE * sum(by_format.values()) else None
