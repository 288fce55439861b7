"""Attention and products whose operands are fp32, beside the products in half precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.device.work_asked import WorkAsked
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.model.kernel_names import KernelCategory, Precision, reads_fp32
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_PRODUCTS = (KernelCategory.GEMM, KernelCategory.CONVOLUTION)


@dataclass(frozen=True, eq=False)
class Fp32Operands(Result):
    """By the kernels' names. `rows`: device events that are attention or products on fp32 operands, `fp32_ns` their
    time; `half_ns` of products in bf16, fp16 or fp8, `products_ns` of all products. `lines` of the cell that the rows
    are for, three at most."""

    rows: Array
    fp32_ns: int
    half_ns: int
    products_ns: int
    lines: tuple[int, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From all kernels of the recording."""
        kernels = results.get(Kernels)
        table = kernels.table
        spent, products = table["total_ns"], np.isin(table["category"], _PRODUCTS)
        reads = np.array([reads_fp32(trace.names[name]) for name in table["name"].tolist()], bool)
        chosen = reads & ((table["category"] == KernelCategory.ATTENTION) | products)
        rows = kernels.rows_named(table["name"][chosen])
        return cls(
            rows=rows,
            fp32_ns=int(spent[chosen].sum()),
            half_ns=int(spent[products & (table["precision"] == Precision.REDUCED)].sum()),
            products_ns=int(spent[products].sum()),
            lines=results.get(WorkAsked).lines(rows),
        )
