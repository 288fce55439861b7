"""Operators on the CPU that work in double precision, by the recorded types of their inputs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.host_marks import named
from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# an operator on a thousand numbers takes its fixed cost and little more
LEAST_ELEMENTS = 1_000
_CONVERSIONS = ("aten::to", "aten::_to_copy", "aten::copy_", "aten::type_as")
_SOLVERS = tuple(
    f"aten::{name}"
    for name in (
        *("_linalg_", "cholesky", "linalg_cholesky", "linalg_eig", "linalg_inv", "linalg_ldl", "linalg_lstsq"),
        *("linalg_lu", "linalg_matrix_exp", "linalg_pinv", "linalg_qr", "linalg_solve", "linalg_svd"),
        "triangular_solve",
    )
)
_CONVOLUTION = "conv"


@dataclass(frozen=True, eq=False)
class Float64Operators(Result):
    """Operators of torch that take a float64 tensor of LEAST_ELEMENTS numbers or more, on the main thread and on
    autograd's. Conversions are left out: they are where double precision begins or ends.

    `types`: types of inputs were recorded. `operators`: rows of `operators`, int64 of shape `(n,)`. Of that shape are
    `start_ns`, `duration_ns` and `names` of each, `self_ns`, what each took without the operators within, and
    `convolution`, which are one. `solvers`: something solves, factorises or inverts in double precision, which then is
    chosen.
    """

    types: bool
    operators: Array
    start_ns: Array
    duration_ns: Array
    names: Array
    self_ns: Array
    convolution: Array
    solvers: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the types and shapes of the inputs; each that occurs is read once."""
        operators = trace.operators
        threads = np.union1d(operators["thread"][backward_mask(trace)], [trace.main_thread])
        torchs = [name.startswith("aten::") and name not in _CONVERSIONS for name in trace.names]
        mine = np.array([*torchs, False], bool)[operators["name"]] & (operators["input_types"] >= 0)
        rows = np.flatnonzero(mine & np.isin(operators["thread"], threads))
        alike = operators["input_dims"][rows].astype(np.int64) * len(trace.names) + operators["input_types"][rows]
        _, first, place = np.unique(alike, return_index=True, return_inverse=True)
        double = np.array([_has_double(trace, row) for row in rows[first].tolist()], bool)
        rows = rows[double[place.reshape(-1)]] if len(rows) else rows
        chosen = operators.take(rows)
        return cls(
            types=bool((operators["input_types"] >= 0).any()),
            operators=rows,
            start_ns=chosen["start_ns"],
            duration_ns=chosen["duration_ns"],
            names=trace.names_of(chosen),
            self_ns=_self_ns(operators)[rows],
            convolution=named(trace, chosen, _CONVOLUTION),
            solvers=bool(trace.name_mask(chosen, *_SOLVERS).any()),
        )

    @property
    def during(self) -> Intervals:
        """When any of them ran, as a union."""
        return intervals.union(Intervals(self.start_ns, self.start_ns + self.duration_ns))

    def costliest(self, inside: Array) -> list[tuple[str, int]]:
        """Names and ns of those that the mask chooses, by their own time, largest first."""
        spent: Counter[str] = Counter()
        for name, own in zip(self.names[inside], self.self_ns[inside].tolist(), strict=True):
            spent[name] += own
        return spent.most_common()


def _has_double(trace: Trace, operator: int) -> bool:
    inputs = inputs_of(trace, operator)
    return any(each.type == "double" and each.dims and each.elements >= LEAST_ELEMENTS for each in inputs)


def _self_ns(operators: Table) -> Array:
    parents, durations = operators["parent"], operators["duration_ns"]
    inner = parents >= 0
    within = np.bincount(parents[inner], weights=durations[inner], minlength=len(operators)).astype(np.int64)
    own: Array = np.maximum(durations - within, 0)
    return own
