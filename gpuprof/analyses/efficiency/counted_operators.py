"""The operators whose floating-point operations follow from what was recorded of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, TensorInput, inputs_of, values_of
from gpuprof.analyses.efficiency.convolution_flops import convolution_flops
from gpuprof.analyses.efficiency.matrix_flops import FACTORS, attention_flops, product_flops
from gpuprof.model.known_operators import WITH_NUMBERS
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

KNOWN = WITH_NUMBERS | FACTORS.keys()


@dataclass(frozen=True)
class CountedShape:
    """An operator with its shapes; `shapes` are those of its tensors (`dims` of at least one number), in order.

    `element_type`: torch's name of the type of its first factor. `flops`: of one call.
    """

    operator: str
    shapes: tuple[Shape, ...]
    element_type: str
    flops: int


@dataclass(frozen=True, eq=False)
class CountedOperators(Result):
    """`row`: of `operators`, ascending, int64 of shape `(count,)`; `shape`: the index of `shapes` of each.

    Of operators within one another only the innermost counts: `aten::addmm` and not the `aten::linear` around it, so
    that nothing counts twice, and the type is the one after autocast. `products`: how many operators are products by
    their names, again without those around others; `unshaped`: of those the ones without recorded shapes.
    """

    row: Array
    shape: Array
    shapes: tuple[CountedShape, ...]
    products: int
    unshaped: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From names, shapes and numbers; each combination is worked out once."""
        operators = trace.operators
        rows = _known_rows(trace)
        keys = zip(
            *(operators[name][rows].tolist() for name in ("name", "input_dims", "input_types", "input_values")),
            strict=True,
        )
        known: dict[tuple[int, ...], int] = {}
        shapes: list[CountedShape] = []
        which = np.full(len(rows), -1, np.int64)
        for at, key in enumerate(keys):
            if key not in known:
                counted = _counted(trace, int(rows[at]))
                known[key] = -1 if counted is None else len(shapes)
                shapes += [] if counted is None else [counted]
            which[at] = known[key]
        inner, innermost = _innermost(trace, rows[which >= 0]), _innermost(trace, rows)
        return cls(
            row=rows[which >= 0][inner],
            shape=which[which >= 0][inner],
            shapes=tuple(shapes),
            products=int(innermost.sum()),
            unshaped=int((operators["input_dims"][rows[innermost]] < 0).sum()),
        )

    def owners(self, trace: Trace, operator: Array) -> Array:
        """Of rows of `operators` (-1: none) the index into `row` of the counted one that is or holds them, else -1."""
        place = np.full(len(trace.operators), -1, np.int64)
        place[self.row] = np.arange(len(self.row))
        owner, above = np.full(len(operator), -1, np.int64), operator.astype(np.int64)
        left = np.flatnonzero(above >= 0)
        while len(left):
            owner[left] = place[above[left]]
            left = left[owner[left] < 0]
            above[left] = trace.operators["parent"][above[left]]
            left = left[above[left] >= 0]
        return owner


def product_rows(trace: Trace) -> Array:
    """Rows of `operators` that are products by their names, without those around others; ascending."""
    rows = _known_rows(trace)
    return rows[_innermost(trace, rows)]


def _known_rows(trace: Trace) -> Array:
    operators = trace.operators
    product = np.fromiter((name in KNOWN for name in trace.names), bool, len(trace.names))
    return np.flatnonzero(product[operators["name"]]) if len(operators) else np.zeros(0, np.int64)


def _innermost(trace: Trace, rows: Array) -> Array:
    """Boolean mask of shape `(len(rows),)`: those that hold none of the others."""
    parent = trace.operators["parent"]
    holds = np.zeros(len(trace.operators), bool)
    above = np.unique(parent[rows])
    above = above[above >= 0]
    while len(above):
        above = above[~holds[above]]
        holds[above] = True
        above = np.unique(parent[above])
        above = above[above >= 0]
    return ~holds[rows]


def _counted(trace: Trace, row: int) -> CountedShape | None:
    name, inputs = trace.names[trace.operators["name"][row]], inputs_of(trace, row)
    given = tuple(each.dims for each in inputs)
    flops, element_type = flops_of(name, given, values_of(trace, row)), _type(name, inputs)
    # a product of complex numbers is several: the formulas are for real ones
    if flops is None or "complex" in element_type:
        return None
    return CountedShape(name, tuple(shape for shape in given if shape), element_type, flops)


def flops_of(name: str, shapes: Sequence[Shape], values: Sequence[str]) -> int | None:
    """Of one call of that operator with inputs of these shapes (empty: no tensor) and these numbers as torch writes
    them; None where that is unknown. For real numbers."""
    for formula in (attention_flops, convolution_flops):
        found = formula(name, shapes, values)
        if found is not None:
            return found
    return product_flops(name, shapes)


def _type(name: str, inputs: Sequence[TensorInput]) -> str:
    place = FACTORS[name][0] if name in FACTORS else 0
    return inputs[place].type if len(inputs) > place else ""
