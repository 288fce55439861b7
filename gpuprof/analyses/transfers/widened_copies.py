"""Tensors whose elements the host makes wider before it copies them to the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# smaller ones are labels and lengths
LEAST_BYTES = 64 << 10


@dataclass(frozen=True, eq=False)
class WidenedCopies(Result):
    """Copies to the device of exactly the bytes that conversions on the host gave in the same step.

    A conversion is an `aten::copy_` from a type of fewer bytes an element to one of more, without a kernel or copy of
    its own; those of one step and pair of types are added up (a batch is converted sample by sample).
    `shapes`: whether the types of inputs were recorded. `copies`: rows of `Copies.table`, int64 of shape `(n,)`;
    `narrower`: bytes an element before ÷ after, float of the same shape; `from_type` and `to_type` of the first.
    `conversions`: the host in these conversions; a union.
    """

    shapes: bool
    copies: Array
    narrower: Array
    from_type: str
    to_type: str
    conversions: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the input types of the conversions."""
        copies, operators = results.get(Copies).table, trace.operators
        if not (operators["input_types"] >= 0).any():
            return cls(False, np.empty(0, np.int64), np.empty(0), "", "", intervals.EMPTY)
        called = np.unique(trace.calls["operator"])
        converting = np.flatnonzero(trace.name_mask(operators, "aten::copy_") & (operators["step"] >= 0))
        converted: dict[tuple[int, str, str], int] = {}
        sizes: dict[tuple[str, str], tuple[int, int]] = {}
        types_of: dict[tuple[str, str], int] = {}
        converting = converting[~np.isin(converting, called)]
        for row, times in _alike(trace, converting):
            inputs = inputs_of(trace, row)
            after, before = (inputs[0], inputs[1]) if len(inputs) > 1 else (None, None)
            if after is None or before is None or not after.element_bytes or not before.element_bytes:
                continue
            if before.element_bytes < after.element_bytes and after.dims == before.dims:
                key = (int(operators["step"][row]), before.type, after.type)
                converted[key] = converted.get(key, 0) + times * after.elements * after.element_bytes
                sizes[key[1:]] = (before.element_bytes, after.element_bytes)
                types_of[key[1:]] = int(operators["input_types"][row])
        found: list[tuple[int, float, str, str]] = []
        steps: set[int] = set()
        large = (copies["direction"] == CopyKind.H2D) & (copies["bytes"] >= LEAST_BYTES)
        for (step, old, new), size in converted.items():
            less, more = sizes[old, new]
            rows = np.flatnonzero(large & (copies["step"] == step) & (copies["bytes"] == size))
            found += [(int(row), less / more, old, new) for row in rows[:1]]
            steps |= {step} if len(rows) else set()
        found.sort()
        return cls(
            shapes=True,
            copies=np.array([each[0] for each in found], np.int64),
            narrower=np.array([each[1] for each in found], np.float64),
            from_type=found[0][2] if found else "",
            to_type=found[0][3] if found else "",
            conversions=_conversions(trace, converting, steps, {types_of[old, new] for _, _, old, new in found}),
        )


def _conversions(trace: Trace, converting: Array, steps: set[int], types: set[int]) -> Intervals:
    rows = trace.operators.take(converting)
    mine = np.isin(rows["step"], sorted(steps)) & np.isin(rows["input_types"], sorted(types))
    return intervals.union(intervals.of(rows.take(mine)))


def _alike(trace: Trace, rows: Array) -> list[tuple[int, int]]:
    """One row for each step, shapes and types that occur, and how often: samples are converted by the thousand."""
    names = ("step", "input_dims", "input_types")
    columns = np.stack([trace.operators[name][rows].astype(np.int64) for name in names], axis=1)
    _, first, counts = np.unique(columns, axis=0, return_index=True, return_counts=True)
    return list(zip(rows[first].tolist(), counts.tolist(), strict=True))
