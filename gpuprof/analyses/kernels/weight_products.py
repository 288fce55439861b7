"""Products of a few rows with a large matrix: their time is that of reading the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import TensorInput, inputs_of
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

MOST_ROWS = 16
# where each operator has its rows and its matrix
_PLACES = {"aten::mm": (0, 1), "aten::addmm": (1, 2), "aten::mv": (1, 0), "aten::addmv": (2, 1)}


@dataclass(frozen=True, eq=False)
class WeightProducts(Result):
    """Products with at most MOST_ROWS rows (tokens, samples) against a matrix of weights, by recorded shapes.

    `chosen`: boolean mask over KernelOrigins. `count`: how many such products ran on the device, `bytes` what they read
    of weights in all, `bytes_per_s` that over the kernels' time (None without any). `rows`: the median number of rows.
    `element_bytes`: of most weights, by their bytes. `shapes_known`: shapes were recorded for at least one product.
    `vector_products`: boolean mask, kernels that by their names multiply with a vector (gemv), whatever the shapes.
    """

    chosen: Array
    count: int
    bytes: int
    bytes_per_s: float | None
    rows: float | None
    element_bytes: int | None
    shapes_known: bool
    vector_products: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the shapes of the operators that launched products."""
        kernels = results.get(KernelOrigins)
        product = (kernels.category == KernelCategory.GEMM) & (kernels.operator >= 0)
        launched, place = np.unique(kernels.operator[product], return_inverse=True)
        weights = _weights(trace, launched)
        small = np.array([w is not None and 0 < w[0] <= MOST_ROWS for w in weights], bool)
        chosen = np.zeros(kernels.count, bool)
        chosen[np.flatnonzero(product)] = small[place] if len(small) else False
        found = [w for w, is_small in zip(weights, small.tolist(), strict=True) if w is not None and is_small]
        sizes = np.array([matrix.elements * (matrix.element_bytes or 0) for _, matrix in found], np.int64)
        spent = int(kernels.duration_ns[chosen].sum())
        return cls(
            chosen=chosen,
            count=len(found),
            bytes=int(sizes.sum()),
            bytes_per_s=sizes.sum() * 1e9 / spent if spent and sizes.all() else None,
            rows=float(np.median([rows for rows, _ in found])) if found else None,
            element_bytes=found[int(np.argmax(sizes))][1].element_bytes if found else None,
            shapes_known=any(weight is not None for weight in weights),
            vector_products=kernels.named(trace, lambda name: "gemv" in name.lower()),
        )


def _weights(trace: Trace, operators: Array) -> list[tuple[int, TensorInput] | None]:
    """`_weight` of each of those rows, asked once for each name with the same shapes."""
    columns = [trace.operators[name][operators].tolist() for name in ("name", "input_dims", "input_types")]
    alike = list(zip(*columns, strict=True))
    known = {
        key: _weight(trace, operator) for key, operator in dict(zip(alike, operators.tolist(), strict=True)).items()
    }
    return [known[key] for key in alike]


def _weight(trace: Trace, operator: int) -> tuple[int, TensorInput] | None:
    """Rows and matrix of that product; None for other operators, or without shapes."""
    places = _PLACES.get(trace.names[trace.operators["name"][operator]])
    inputs = inputs_of(trace, operator)
    if places is None or len(inputs) <= max(places):
        return None
    rows, matrix = inputs[places[0]], inputs[places[1]]
    if len(matrix.dims) != 2 or not rows.dims:
        return None
    return (rows.dims[0] if len(rows.dims) == 2 else 1), matrix
