"""Matrix products on tensor cores whose sizes forced them to read one or two elements at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.analyses.kernels.eager_attention import AttentionBlocks
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model.kernel_names import KernelCategory, Precision, alignment_of, category_of, precision_of
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_ELEMENTS = 2
# elements in 16 bytes, what tensor-core kernels read at once; of fp8 and int8 it would be 16
_WANTED = {Precision.TF32: 4, Precision.REDUCED: 8}
_PRODUCTS = (KernelCategory.GEMM, KernelCategory.CONVOLUTION)


@dataclass(frozen=True)
class UnalignedShape:
    """Products of the same input shapes: the device time of their unaligned kernels, and the sizes among the last two
    dimensions of a matrix (the channels of a convolution) that are no multiple of what 16 bytes hold."""

    operator: str
    shapes: tuple[tuple[int, ...], ...]
    odd_sizes: tuple[int, ...]
    ns: int


@dataclass(frozen=True, eq=False)
class UnalignedProducts(Result):
    """`chosen`: boolean mask over KernelOrigins, products in TF32, bf16 or fp16 whose names say that they read at most
    two elements at once. Attention that is written out is left out: it has a rule of its own. `shapes`: by shape, the
    costliest first; empty where no shapes were recorded."""

    chosen: Array
    shapes: tuple[UnalignedShape, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the kernels' names and the operators' shapes."""
        kernels = results.get(KernelOrigins)
        chosen = kernels.named(trace, _is_unaligned) & ~results.get(AttentionBlocks).chosen
        spent: Counter[tuple[int, int, int]] = Counter()
        rows = np.flatnonzero(chosen & (kernels.operator >= 0))
        operators = trace.operators
        sample: dict[tuple[int, int, int], tuple[int, int]] = {}
        for row in rows.tolist():
            operator = int(kernels.operator[row])
            key = (
                int(operators["name"][operator]),
                int(operators["input_dims"][operator]),
                int(operators["input_types"][operator]),
            )
            sample.setdefault(key, (operator, int(kernels.name[row])))
            spent[key] += int(kernels.duration_ns[row])
        shapes = (_shape(trace, *sample[key], ns) for key, ns in spent.most_common())
        return cls(chosen, tuple(shape for shape in shapes if shape is not None))


def _is_unaligned(name: str) -> bool:
    elements = alignment_of(name)
    return (
        elements is not None
        and elements <= _MOST_ELEMENTS
        and category_of(name) in _PRODUCTS
        and precision_of(name) in _WANTED
    )


def _shape(trace: Trace, operator: int, kernel: int, ns: int) -> UnalignedShape | None:
    wanted = _WANTED[precision_of(trace.names[kernel])]
    shapes = tuple(each.dims for each in inputs_of(trace, operator) if len(each.dims) >= 2)[:2]
    if not shapes:
        return None
    matters = [size for shape in shapes for size in (shape[:2] if len(shape) >= 4 else shape[-2:])]
    odd = tuple(dict.fromkeys(size for size in matters if size % wanted))
    return UnalignedShape(trace.names[trace.operators["name"][operator]], shapes, odd, ns)
