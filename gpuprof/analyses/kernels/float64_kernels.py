"""Kernels that work in fp64, and the operators that launched them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model.kernel_names import KernelCategory, works_in_double
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class Float64Kernels(Result):
    """`chosen`: boolean mask over KernelOrigins, the kernels whose elements are fp64 by their names; `products` those
    of them that are matrix products. `operators`: the outermost operators that launched them with the device time of
    each in ns, the costliest first."""

    chosen: Array
    products: Array
    operators: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the kernels' names."""
        kernels = results.get(KernelOrigins)
        chosen = kernels.named(trace, works_in_double)
        launched = chosen & (kernels.root >= 0)
        spent: Counter[str] = Counter()
        names = trace.names_of(trace.operators.take(kernels.root[launched]))
        for name, duration in zip(names, kernels.duration_ns[launched].tolist(), strict=True):
            spent[name] += duration
        products = chosen & np.isin(kernels.category, (KernelCategory.GEMM, KernelCategory.CONVOLUTION))
        return cls(chosen, products, tuple(spent.most_common()))
