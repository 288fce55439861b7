"""The time of counted operators: of the kernels that they launched, or on the CPU their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.counted_operators import CountedOperators
from gpuprof.analyses.efficiency.number_format import NumberFormat, device_format, host_format
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import PRODUCT_CATEGORIES, Precision, precision_of
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class CountedTimes:
    """`chosen`: indices into CountedOperators of those whose time is known, int64 of shape `(n,)`; `ns` of each, and
    its number format. The rest as in Efficiency."""

    chosen: Array
    ns: Array
    formats: tuple[NumberFormat | None, ...]
    running_ns: int
    covered_share: float | None
    covered_product_share: float | None


def device_times(trace: Trace, results: Results, counted: CountedOperators) -> CountedTimes:
    """By the kernels of the first device that are no collectives. An operator without one calculated elsewhere, or its
    kernels are lost: it does not count."""
    kernels = results.get(KernelOrigins)
    owner = counted.owners(trace, kernels.operator)
    owned = owner >= 0
    product = np.isin(kernels.category, PRODUCT_CATEGORIES)
    chosen, place = np.unique(owner[owned], return_inverse=True)
    names, which = np.unique(kernels.name, return_inverse=True)
    precisions = np.array([precision_of(trace.names[name]) for name in names], np.uint8)
    precision = precisions[which]
    has = {
        kind: np.bincount(place[(precision == kind)[owned]], minlength=len(chosen)) > 0
        for kind in (Precision.TF32, Precision.FP32)
    }
    formats = tuple(
        device_format(
            counted.shapes[shape].element_type,
            Precision.TF32 if tf32 else Precision.FP32 if fp32 else Precision.UNKNOWN,
        )
        for shape, tf32, fp32 in zip(
            counted.shape[chosen].tolist(), has[Precision.TF32], has[Precision.FP32], strict=True
        )
    )
    return CountedTimes(
        chosen=chosen,
        ns=np.bincount(place, kernels.duration_ns[owned], len(chosen)).astype(np.int64),
        formats=formats,
        running_ns=kernels.union(owned).total_ns,
        covered_share=_share(kernels.duration_ns, owned),
        covered_product_share=_share(kernels.duration_ns[product], owned[product]),
    )


def host_times(trace: Trace, counted: CountedOperators) -> CountedTimes:
    """By their own durations, in all threads."""
    operators = trace.operators
    starts, durations = operators["start_ns"][counted.row], operators["duration_ns"][counted.row]
    outer = operators["duration_ns"][operators["depth"] == 0].sum()
    covered = float(durations.sum() / outer) if outer else None
    return CountedTimes(
        chosen=np.arange(len(counted.row)),
        ns=durations,
        formats=tuple(host_format(counted.shapes[shape].element_type) for shape in counted.shape.tolist()),
        running_ns=intervals.union(Intervals(starts, starts + durations)).total_ns,
        covered_share=covered,
        covered_product_share=len(counted.row) / counted.products if counted.products else None,
    )


def _share(durations: Array, chosen: Array) -> float | None:
    whole = int(durations.sum())
    return int(durations[chosen].sum()) / whole if whole else None
