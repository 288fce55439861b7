"""How fast a run without recorded shapes calculates, by the operators that the close look saw.

The look knows the shapes of all operators of whole iterations, but its times are no times of the cell. Those are of
iterations without the recording, where these have as many products as the ones that were looked at.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.efficiency.counted_operators import CountedOperators, product_rows
from gpuprof.analyses.efficiency.device_peaks import DevicePeaks, peaks_of
from gpuprof.analyses.efficiency.looked_products import LookedProduct, looked_products
from gpuprof.analyses.efficiency.number_format import NumberFormat, device_format, host_format
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import PRODUCT_CATEGORIES, Precision, precision_of
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

# of the operators of the looked-at iterations
LEAST_SEEN_SHARE = 0.98
# of their products: recorded steps that have more or fewer do something else
_UNLIKE = 0.05


@dataclass(frozen=True)
class LookedShape:
    """Calls of one operator with the same shapes and number format: `count` in an iteration, on average, each of
    `flops` operations."""

    operator: str
    shapes: tuple[Shape, ...]
    number_format: NumberFormat | None
    count: float
    flops: int


@dataclass(frozen=True, eq=False)
class LookedEfficiency(Result):
    """Of the products, convolutions and attention of one iteration, on average over `iterations` that were looked at.

    `shapes`: most operations first. `iteration_flops`: their operations. `covered_share`: their part of the time of all
    operators of the look, 0..1. `iteration_ns`: the mean iteration without the recording, None where none is known or
    recorded steps are unlike those of the look. `running_ns`: in a recorded step, the time in which any product ran,
    None where that is more than `iteration_ns`: then the recording slows them.
    `number_format`: of most operations. `peak_flops_per_s`: of the device in that format; on the CPU, and of a device
    that is not listed, None. `mfu`: the time that the operations take at their formats' peaks over `iteration_ns`.
    `uncounted`: products whose operations do not follow from what was seen; shares of peaks are None where there are
    any. Empty, with `iterations` 0, where shapes were recorded (see Efficiency) or no whole iteration was seen.
    """

    on_device: bool = False
    iterations: int = 0
    shapes: tuple[LookedShape, ...] = ()
    iteration_flops: float = 0.0
    covered_share: float | None = None
    iteration_ns: float | None = None
    running_ns: float | None = None
    number_format: NumberFormat | None = None
    peak_flops_per_s: float | None = None
    mfu: float | None = None
    uncounted: int = 0

    @property
    def flops_per_s(self) -> float | None:
        """Over an iteration without the recording; None where its time is not known."""
        return self.iteration_flops * NS_PER_S / self.iteration_ns if self.iteration_ns else None

    @property
    def running_flops_per_s(self) -> float | None:
        """While products run, in recorded steps; None where that time is not known."""
        return self.iteration_flops * NS_PER_S / self.running_ns if self.running_ns else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the tables of the look, and the times of recorded and other iterations."""
        recorded, device = results.get(CountedOperators), results.get(DeviceActivity).primary
        whole = _whole_iterations(trace)
        if not whole or len(recorded.row) or trace.source.unread is not None:
            return cls()
        graph, on_device = results.get(ValueGraph), device is not None
        number = graph.operators["iteration"]
        inside = np.flatnonzero((number >= 0) & (number < whole))
        products = looked_products(trace, graph, inside, on_device=on_device)
        counted = [each for each in products if each.flops is not None]
        iterations = len(np.unique(number[inside]))
        named = sum(not each.no_formula for each in products)
        alike = bool(counted) and _alike(trace, results, named / iterations)
        if not counted or (not alike and _hidden(trace)):
            return cls()
        formats = _formats(trace, results, on_device=on_device)
        shapes = _shapes(counted, formats, iterations)
        spent, all_ns = (int(graph.operators["duration_ns"][rows].sum()) for rows in ([e.row for e in counted], inside))
        flops = sum(each.count * each.flops for each in shapes)
        by_format = defaultdict[NumberFormat | None, float](float)
        for each in shapes:
            by_format[each.number_format] += each.count * each.flops
        main = max(by_format, key=lambda each: by_format[each])
        peaks = None if device is None else peaks_of(trace.device(device.id))
        plain = results.get(PlainIterations).plain
        iteration_ns = plain.mean_ns if plain is not None and alike else None
        running_ns = _running_ns(trace, results, on_device=on_device) if alike else None
        slowed = running_ns is not None and iteration_ns is not None and running_ns > iteration_ns
        ideal_ns = None if len(counted) < len(products) else _ideal_ns(by_format, peaks)
        return cls(
            on_device=on_device,
            iterations=iterations,
            shapes=shapes,
            iteration_flops=flops,
            covered_share=spent / all_ns if all_ns else None,
            iteration_ns=iteration_ns,
            running_ns=None if slowed else running_ns,
            number_format=main,
            peak_flops_per_s=peaks.flops_per_s(main) if peaks else None,
            mfu=ideal_ns / iteration_ns if ideal_ns is not None and iteration_ns else None,
            uncounted=len(products) - len(counted),
        )


def _whole_iterations(trace: Trace) -> int:
    """How many whole iterations of one loop were looked at, where all that ran in them was seen; else 0."""
    look = trace.context.look
    if look is None or look.skipped is not None or len(look.each) > 1:
        return 0
    return look.iterations if (look.operators_share or 0.0) >= LEAST_SEEN_SHARE else 0


def _hidden(trace: Trace) -> bool:
    """Whether code ran that the look cannot see into, as a compiled region: it may hold products."""
    return trace.context.look is not None and trace.context.look.unseen_writes > 0


def _formats(trace: Trace, results: Results, *, on_device: bool) -> dict[str, NumberFormat | None]:
    """By the element type of a product, what it multiplies in."""
    if not on_device:
        return {}
    kernels = results.get(KernelOrigins)
    names = np.unique(kernels.name[np.isin(kernels.category, PRODUCT_CATEGORIES)])
    found = {precision_of(trace.names[name]) for name in names.tolist()} & {Precision.TF32, Precision.FP32}
    # of an fp32 product only its kernel's name tells: where there are both, which one it was is not known
    return {"float32": device_format("float", found.pop())} if len(found) == 1 else {"float32": None}


def _shapes(
    counted: list[LookedProduct], formats: dict[str, NumberFormat | None], iterations: int
) -> tuple[LookedShape, ...]:
    groups = defaultdict[tuple[str, tuple[Shape, ...], NumberFormat | None, int], int](int)
    for each in counted:
        known = formats[each.dtype] if each.dtype in formats else host_format(each.dtype)
        groups[each.operator, each.shapes, known, each.flops or 0] += 1
    found = [LookedShape(*key[:3], count / iterations, key[3]) for key, count in groups.items()]
    return tuple(sorted(found, key=lambda each: (-each.count * each.flops, each.operator, each.shapes)))


def _alike(trace: Trace, results: Results, products: float) -> bool:
    """Whether a recorded step has as many products as an iteration of the look."""
    steady = results.get(StepTime).steady
    step = trace.operators["step"][product_rows(trace)]
    if not steady.any():
        return False
    usual = float(np.median(np.bincount(step[step >= 0], minlength=len(steady))[: len(steady)][steady]))
    return abs(usual - products) <= _UNLIKE * products


def _running_ns(trace: Trace, results: Results, *, on_device: bool) -> float | None:
    """In a steady step the time in which any product ran: kernels of them on a device, else the operators."""
    steady = results.get(StepTime).steady
    ran, step = _ran(trace, results, on_device=on_device)
    known = (step >= 0) & (step < len(steady))
    chosen = known & np.append(steady, False)[np.where(known, step, -1)]
    total = intervals.union(Intervals(ran.starts[chosen], ran.ends[chosen])).total_ns
    return total / int(steady.sum()) if total else None


def _ran(trace: Trace, results: Results, *, on_device: bool) -> tuple[Intervals, Array]:
    """When products ran, and in which step each of them began."""
    if on_device:
        kernels = results.get(KernelOrigins)
        table = trace.device_events.take(kernels.event[np.isin(kernels.category, PRODUCT_CATEGORIES)])
    else:
        table = trace.operators.take(product_rows(trace))
    return intervals.of(table), table["step"].astype(np.int64)


def _ideal_ns(by_format: dict[NumberFormat | None, float], peaks: DevicePeaks | None) -> float | None:
    """How long the operations take at their formats' peaks; None where one of them is unknown."""
    if peaks is None:
        return None
    known = [(flops, peaks.flops_per_s(number_format)) for number_format, flops in by_format.items()]
    return sum(flops * NS_PER_S / (peak or 1.0) for flops, peak in known) if all(peak for _, peak in known) else None
