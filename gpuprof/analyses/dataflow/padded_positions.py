"""Sequences that are padded before an embedding, and what the operators take that work on all of their positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import LookedOperator, Taken, operators_of
from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a convolution without padding of its own makes so many positions less, at most
_SHORTER = 16


@dataclass(frozen=True, eq=False)
class PaddedPositions(Result):
    """Of the batches at the embedding with most of them: `batches` looked into, of `sequences`×`length` positions
    (those of the largest), `padded_share` of which are padding, 0..1; of a `fixed` length those alone that no sequence
    of its batch reaches, in one of the batches at least.

    `place` is the embedding's line, `made_at` the line that made the batch: rows of the looked places, -1 where not
    known. `rows` of looked_operators work on these positions, `share` of the time of all operators, 0..1, and `places`
    are their lines, most time first. `batches` is 0 where there are none.
    """

    batches: int = 0
    sequences: int = 0
    length: int = 0
    padded_share: float = 0.0
    fixed: bool = False
    place: int = -1
    made_at: int = -1
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64))
    places: tuple[int, ...] = ()
    share: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the indices whose padding was counted, and what follows from them."""
        graph = results.get(ValueGraph)
        if not (graph.values["zero_pattern"] >= ZeroPattern.PADDED_ROWS).any():
            return cls()
        operators = operators_of(trace)
        found = _embeddings(graph, operators)
        if not found:
            return cls()
        place = max(found, key=lambda each: sum(elements for _, elements, _ in found[each]))
        counted = [(value, elements) for _, elements, value in found[place] if _is_counted(graph, value)]
        if not counted:
            return cls()
        share, weight, patterns = graph.values["zeros_share"], sum(elements for _, elements in counted), set[int]()
        for value, _ in counted:
            patterns.add(int(graph.values["zero_pattern"][value]))
        largest = max(found[place], key=lambda each: each[1])
        taken = _indices(operators[largest[0]])
        assert taken is not None and taken.geometry is not None
        rows = _following(operators, {row for row, _, _ in found[place]})
        lasted, lines = graph.operators["duration_ns"], graph.operators["place"]
        spent = defaultdict[int, int](int)
        for row in rows:
            spent[int(lines[row])] += int(lasted[row])
        made_by = int(graph.values["made_by"][largest[2]])
        chosen = np.array(sorted(rows), np.int64)
        return cls(
            batches=len(counted),
            sequences=taken.geometry.shape[0],
            length=taken.geometry.shape[1],
            padded_share=sum(float(share[value]) * elements for value, elements in counted) / weight,
            fixed=int(ZeroPattern.PADDED_LENGTH) in patterns,
            place=place,
            made_at=int(lines[made_by]) if made_by >= 0 else -1,
            rows=chosen,
            places=tuple(each for each in sorted(spent, key=lambda each: -spent[each]) if each >= 0),
            share=float(lasted[chosen].sum()) / max(float(lasted.sum()), 1.0),
        )


def _embeddings(graph: ValueGraph, operators: Sequence[LookedOperator]) -> dict[int, list[tuple[int, int, int]]]:
    """By line the operators that look up batches of sequences, with the number of positions and the value of each."""
    found = defaultdict[int, list[tuple[int, int, int]]](list)
    for row, operator in enumerate(operators):
        taken = _indices(operator)
        if taken is not None and taken.value >= 0:
            found[int(graph.operators["place"][row])].append((row, taken.elements, taken.value))
    return {place: rows for place, rows in found.items() if place >= 0}


def _indices(operator: LookedOperator) -> Taken | None:
    if operator.backward or own_name(operator.name) != "embedding" or len(operator.reads) != 2:
        return None
    taken = operator.reads[1]
    return taken if taken.geometry is not None and len(taken.geometry.shape) == 2 else None


def _is_counted(graph: ValueGraph, value: int) -> bool:
    """Of those that are not padded the share is 0."""
    return bool(graph.values["zeros_share"][value] == graph.values["zeros_share"][value])


def _following(operators: Sequence[LookedOperator], embeddings: set[int]) -> set[int]:
    """The operators that work on positions of these embeddings: on what follows from them, as long as a shape has an
    axis of all positions, of one sequence or of the batch."""
    lengths, found = dict[int, tuple[int, int]](), set[int]()
    for row, operator in enumerate(operators):
        if row in embeddings:
            taken = _indices(operator)
            assert taken is not None and taken.geometry is not None
            of = taken.geometry.shape[0], taken.geometry.shape[1]
        else:
            known = next((lengths[each.value] for each in operator.reads if each.value in lengths), None)
            if known is None or not any(_has(each, known) for each in (*operator.reads, *operator.results)):
                continue
            of = known
        found.add(row)
        for each in operator.results:
            if each.value >= 0 and _has(each, of):
                lengths.setdefault(each.value, of)
    return found


def _has(taken: Taken, of: tuple[int, int]) -> bool:
    batch, length = of
    shape = taken.geometry.shape if taken.geometry is not None else ()
    return any(size == batch * length or length - _SHORTER <= size <= length for size in shape)
