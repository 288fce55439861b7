"""Operators of the close look that read subnormal numbers, and what they take without them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph, weighed_operators
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the numbers that an operator reads: each of these takes a hundred times as long where they are slow
_LEAST_SHARE = 0.01
# of each sort, to compare them
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class SubnormalOperand:
    """Operators of one name at one line (`place`: row of the looked places) of which some read subnormal numbers, a
    `numbers_share` of what they read, 0..1. Of those that were counted a `rows_share` did. `rows` of looked_operators:
    all of that name and line, of which those that read some take `time_ns`, as far as the counted ones tell. `saved_ns`
    of it are saved where they take as long as the others, which read as much and none; None: there are too few.
    `double`: they read numbers of float64."""

    place: int
    operator: str
    numbers_share: float
    rows_share: float
    rows: Array
    time_ns: int
    saved_ns: int | None
    double: bool


@dataclass(frozen=True, eq=False)
class SubnormalOperands(Result):
    """`operands`: most time first; `share`: what these take of the time of all operators, 0..1; `saved_share`: what is
    saved of it by those that could be compared, which take `compared_share`; of all operators of their names and lines
    that is `saved_part`. `operators`: how many the look saw. `slowdown`: how many times as long the cell's thread took
    for a product of subnormal numbers as of normal ones; None where none were seen."""

    operands: tuple[SubnormalOperand, ...]
    share: float
    saved_share: float
    compared_share: float
    saved_part: float
    operators: int
    slowdown: float | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the numbers that were counted of what operators read."""
        look = trace.context.look
        graph = results.get(ValueGraph)
        # the same operator takes many times as long on such numbers
        lasted = weighed_operators(trace, results, as_measured=True)["duration_ns"].astype(np.float64)
        share, elements = _read(graph)
        if look is None or not (share > 0).any():
            return cls((), 0.0, 0.0, 0.0, 0.0, len(lasted), look.subnormal_slowdown if look is not None else None)
        whole = max(float(lasted.sum()), 1.0)
        key = graph.operators["name"].astype(np.int64) << 32 | graph.operators["place"] + 1
        found = []
        for each in np.unique(key[share >= _LEAST_SHARE]).tolist():
            rows = np.flatnonzero(key == each)
            found.append(_operand(trace, graph, rows, share[rows], elements[rows], lasted[rows]))
        found.sort(key=lambda each: -each.time_ns)
        compared = [each for each in found if each.saved_ns is not None]
        saved, among = sum(each.saved_ns or 0 for each in compared), [each.rows for each in compared]
        return cls(
            tuple(found),
            sum(each.time_ns for each in found) / whole,
            saved / whole,
            sum(each.time_ns for each in compared) / whole,
            saved / max(float(lasted[np.concatenate(among)].sum()), 1.0) if among else 0.0,
            len(lasted),
            look.subnormal_slowdown,
        )


def _read(graph: ValueGraph) -> tuple[Array, Array]:
    """By operator the largest share of subnormal numbers in what it reads, NaN where none was counted, and how many
    numbers it reads."""
    reads, count = graph.reads, len(graph.operators)
    share, elements = np.full(count, nan), np.zeros(count, np.int64)
    known = np.flatnonzero((reads["value"] >= 0) & ~graph.view[reads["operator"]])
    operator = reads["operator"][known]
    of_value = graph.values["subnormals_share"][reads["value"][known]] if len(known) else np.zeros(0)
    np.fmax.at(share, operator, of_value)
    np.add.at(elements, operator, reads["elements"][known])
    return share, elements


def _operand(
    trace: Trace, graph: ValueGraph, rows: Array, share: Array, elements: Array, lasted: Array
) -> SubnormalOperand:
    """Of rows of one name and line."""
    counted = share == share
    slow, quick = counted & (share >= _LEAST_SHARE), counted & (share == 0)
    part = float(lasted[slow].sum()) / max(float(lasted[counted].sum()), 1.0)
    time_ns = part * float(lasted.sum())
    alike = quick & (elements == np.median(elements[slow]))
    saved = None
    if alike.sum() >= _FEWEST and slow.sum() >= _FEWEST:
        usual = float(np.median(lasted[slow]))
        saved = round(time_ns * max(usual - float(np.median(lasted[alike])), 0.0) / max(usual, 1.0))
    return SubnormalOperand(
        place=int(graph.operators["place"][rows[0]]),
        operator=own_name(trace.names[graph.operators["name"][rows[0]]]),
        numbers_share=float(share[slow].mean()),
        rows_share=float(slow.sum() / counted.sum()),
        rows=rows,
        time_ns=round(time_ns),
        saved_ns=saved,
        double=_is_double(trace, graph, int(rows[np.flatnonzero(slow)[0]])),
    )


def _is_double(trace: Trace, graph: ValueGraph, row: int) -> bool:
    value = graph.reads["value"][graph.inputs.of(row)]
    dtypes = graph.values["dtype"][value[value >= 0]].tolist()
    return any(trace.names[each] == "float64" for each in dtypes if each >= 0)
