"""The products, convolutions and attention among the operators of the close look, with their operations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.efficiency.counted_operators import KNOWN, flops_of
from gpuprof.analyses.efficiency.matrix_flops import FACTORS
from gpuprof.model.known_operators import WITHOUT_FORMULA
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class LookedProduct:
    """`row` of looked_operators. `shapes`: of its tensors, in order; `dtype` of its first factor, such as `float32`.
    `flops`: None where they do not follow from what was seen: of sparse or complex operands, or without shapes; and of
    operators for which there is no formula, as recurrent layers, which `no_formula` marks."""

    row: int
    operator: str
    shapes: tuple[Shape, ...]
    dtype: str
    flops: int | None
    no_formula: bool = False


def looked_products(trace: Trace, graph: ValueGraph, rows: Array, *, on_device: bool) -> list[LookedProduct]:
    """Those among these rows of looked_operators that work on a device, or on the CPU."""
    known = np.fromiter((_plain(name) in KNOWN | WITHOUT_FORMULA for name in trace.names), bool, len(trace.names))
    chosen = rows[known[graph.operators["name"][rows]]] if len(rows) else rows
    found = [_product(trace, graph, row) for row in chosen.tolist()]
    return [each for each, where in found if (where != "cpu") is on_device]


def _product(trace: Trace, graph: ValueGraph, row: int) -> tuple[LookedProduct, str]:
    """With the type of the device that it works on."""
    name, given = _plain(trace.names[graph.operators["name"][row]]), graph.inputs.of(row)
    values = graph.reads["value"][given].tolist()
    shapes = [_shape(trace.names[each]) if each >= 0 else None for each in graph.reads["shape"][given].tolist()]
    at = FACTORS[name][0] if name in FACTORS else 0
    known = all(each >= 0 for each in values) and None not in shapes and len(values) > at
    dtype = trace.names[graph.values["dtype"][values[at]]] if known else ""
    held = [each for each in values if each >= 0]
    device = trace.names[graph.values["device"][held[0]]].partition(":")[0] if held else "cpu"
    dims = tuple(each for each in shapes if each is not None)
    flops = flops_of(name, dims, _arguments(trace, graph, row)) if known and "complex" not in dtype else None
    return LookedProduct(row, name, dims, dtype, flops, name in WITHOUT_FORMULA), device


def _plain(name: str) -> str:
    """`aten::mm` of `aten::mm.dtype`."""
    return name.partition(".")[0]


def _arguments(trace: Trace, graph: ValueGraph, row: int) -> Sequence[str]:
    at = int(graph.operators["arguments"][row])
    return _values(trace.names[at]) if at >= 0 else ()


@lru_cache(maxsize=1024)
def _values(text: str) -> tuple[str, ...]:
    """As torch writes them: `True`, `[1, 1]`; empty for a tensor."""
    found = json.loads(text)
    return tuple("" if each is None else str(each) for each in found) if isinstance(found, list) else ()


@lru_cache(maxsize=4096)
def _shape(text: str) -> Shape | None:
    """Of `[64, 784]`; None where it is no list of numbers."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    known = isinstance(found, list) and all(type(each) is int for each in found)
    return tuple(found) if known else None
