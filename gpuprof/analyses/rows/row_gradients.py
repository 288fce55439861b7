"""Backward passes that begin at one row of a batch each, and in which all other rows stay zeros to the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator, operators_of, values_of
from gpuprof.analyses.rows.filled_rows import FilledRows
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the operators of a pass that read such gradients: so many make one again, or take part of their rows
_STAY = 0.8


@dataclass(frozen=True, eq=False)
class RowGradients(Result):
    """Of the line with most time in such passes: `passes` of one iteration, each from another one of `batch` rows.

    `place`: the line that calls backward, a row of the looked places, -1 where there is none. `rows` of
    looked_operators are all of these passes in all iterations and take `share` of the time of all operators, 0..1;
    `saved_part` of that goes where one pass has all rows.
    """

    passes: int = 0
    batch: int = 0
    place: int = -1
    rows: Array | None = None
    share: float = 0.0

    @property
    def saved_part(self) -> float:
        """One pass of all of them is left."""
        return 1 - 1 / self.passes if self.passes else 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the rows at which passes begin, and what of their gradients is not zero."""
        table = weighed_operators(trace, results)
        if not table["backward"].any():
            return cls()
        operators = operators_of(trace)
        passes = list(_passes(operators, table["backward"].tolist()))
        if not passes:
            return cls()
        filled = FilledRows(operators, values_of(trace))
        groups = defaultdict[Hashable, list[_RowPass]](list)
        for each in passes:
            if filled.stays(each.rows) >= _STAY:
                place = int(table["place"][each.first])
                groups[place, int(table["iteration"][each.first]), each.batch].append(each)
        by_place = defaultdict[int, list[list[_RowPass]]](list)
        for (place, _, _), members in groups.items():  # type: ignore[misc]
            # a row that comes again is another calculation
            if place >= 0 and len({each.number for each in members}) == len(members):
                by_place[place].append(members)
        lasted = table["duration_ns"]
        found = [cls._at(place, iterations, lasted) for place, iterations in by_place.items()]
        return max(found, key=lambda each: each.share * each.saved_part, default=cls())

    @classmethod
    def _at(cls, place: int, iterations: list[list[_RowPass]], lasted: Array) -> Self:
        most = max(iterations, key=len)
        rows = np.array(sorted(row for members in iterations for each in members for row in each.rows), np.int64)
        share = float(lasted[rows].sum()) / max(float(lasted.sum()), 1.0)
        return cls(len(most), most[0].batch, place, rows, share)


@dataclass(frozen=True)
class _RowPass:
    """A backward pass of these operators; the first takes row `number` of `batch`."""

    rows: range
    batch: int
    number: int

    @property
    def first(self) -> int:
        return self.rows[0]


def _passes(operators: Sequence[LookedOperator], backward: Sequence[bool]) -> Iterator[_RowPass]:
    row = 0
    while row < len(operators):
        if not backward[row]:
            row += 1
            continue
        end = row
        # what begins a pass, ones for its gradient, runs before it: one row after another in it is one pass of a loop
        while end < len(operators) and backward[end]:
            end += 1
        at = _selected(operators[row])
        if at is not None:
            yield _RowPass(range(row, end), *at)
        row = end


def _selected(operator: LookedOperator) -> tuple[int, int] | None:
    """`(batch, row)` where it puts a gradient into one row of zeros, along the first axis."""
    given = operator.arguments
    if names.plain(operator.name) != "select_backward" or given is None or len(given) < 4:
        return None
    sizes, axis, number = given[1:4]
    if not isinstance(sizes, list) or not sizes or axis not in (0, -len(sizes)) or type(number) is not int:
        return None
    return int(sizes[0]), number % max(int(sizes[0]), 1)
