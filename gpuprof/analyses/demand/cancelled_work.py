"""Work whose results do not matter, because a factor of exactly 0 or 1 cancels them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand.cancellation import Cancelled
from gpuprof.analyses.demand.flow import Flow
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, operators_of, values_of
from gpuprof.analyses.demand.unread_work import UnreadWork
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class CancelledPlace:
    """What one factor, of exactly `factor` (0 or 1), cancels: `factor_at` is its line, `cancelled_at` the line whose
    result does not depend on it, `places` those that compute it, most time first: rows of the looked places. `rows` of
    looked_operators take `rows_ns`, of which `wasted_ns` are for nothing, `share` of the time of all operators, 0..1.
    """

    factor: int
    factor_at: int
    cancelled_at: int
    places: tuple[int, ...]
    rows: Array
    rows_ns: int
    wasted_ns: int
    share: float


@dataclass(frozen=True, eq=False)
class CancelledWork(Result):
    """`found`: most time first. Empty where reads are not known."""

    found: tuple[CancelledPlace, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """What is needed with all results, less what is needed where those that cancel are not made."""
        if not results.get(UnreadWork).looked:
            return cls(())
        operators, values = operators_of(trace), values_of(trace)
        cancelled = Cancelled.of(operators, values)
        if not cancelled.by:
            return cls(())
        every = Flow(operators, values).needed
        without = Flow(operators, values, cancelled=cancelled).needed
        more = np.array([max(all_of.share - rest.share, 0.0) for all_of, rest in zip(every, without, strict=True)])
        table = weighed_operators(trace, results)
        wasted_ns = table["duration_ns"] * more
        if not wasted_ns.any():
            return cls(())
        found = _CancelledRows(
            operators, values, cancelled, wasted_ns, {row for row, each in enumerate(without) if each.share}
        )
        columns = {name: table[name] for name in ("place", "forward_place", "iteration", "duration_ns", "backward")}
        places = (found.place(number, rows, columns) for number, rows in found.by_factor(columns).items())
        return cls(tuple(sorted((each for each in places if each is not None), key=lambda each: -each.wasted_ns)))


class _CancelledRows:
    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        cancelled: Cancelled,
        wasted_ns: Array,
        needed: set[int],
    ):
        self._operators, self._values, self._cancelled, self._wasted_ns = operators, values, cancelled, wasted_ns
        # those that it takes all the same, and those that were met
        self._done = set(needed)
        # by operator that is for nothing the one with the factor
        self._owner: dict[int, int] = {row: cancelled.by[row] for row in cancelled.zeros if wasted_ns[row]}
        self._ends: dict[int, int] = {}
        for row in cancelled.lost:
            self._walk_back(row)

    def by_factor(self, columns: dict[str, Array]) -> dict[int, list[int]]:
        """Rows by the line of their factor."""
        found = defaultdict[int, list[int]](list)
        for row, by in self._owner.items():
            found[_line(columns, by)].append(row)
        return found

    def place(self, line: int, rows: list[int], columns: dict[str, Array]) -> CancelledPlace | None:
        """Of the rows that one line cancels; None where it does not in each iteration."""
        factors = sorted({self._owner[row] for row in rows})
        cancels = {int(columns["iteration"][row]) for row in self._cancelled.by.values() if _line(columns, row) == line}
        name = self._operators[factors[0]].name
        ran = {
            int(columns["iteration"][row])
            for row, each in enumerate(self._operators)
            if each.name == name and _line(columns, row) == line
        }
        if line < 0 or cancels != ran:
            return None
        chosen = np.array(sorted(rows), np.int64)
        spent = defaultdict[int, float](float)
        for row in rows:
            spent[_line(columns, row)] += float(self._wasted_ns[row])
        wasted = float(self._wasted_ns[chosen].sum())
        ends = [self._ends[each] for each in factors if each in self._ends]
        return CancelledPlace(
            factor=0 if any(self._zero(each) for each in factors) else 1,
            factor_at=line,
            cancelled_at=_line(columns, ends[0]) if ends else line,
            places=tuple(each for each in sorted(spent, key=lambda each: -spent[each]) if each >= 0),
            rows=chosen,
            rows_ns=int(columns["duration_ns"][chosen].sum()),
            wasted_ns=round(wasted),
            share=wasted / max(float(columns["duration_ns"].sum()), 1.0),
        )

    def _zero(self, row: int) -> bool:
        """Whether the factor is 0: nothing is left of what it multiplies."""
        return row in self._cancelled.zeros or not self._cancelled.instead.get(row, (None,))

    def _walk_back(self, end: int) -> None:
        """From what is lost there to all that was computed for it."""
        by = self._cancelled.by[end]
        self._ends.setdefault(by, end)
        left = list(self._cancelled.lost[end])
        while left:
            row = self._values[left.pop()].made_by
            if row < 0 or row in self._done:
                continue
            self._done.add(row)
            if self._wasted_ns[row]:
                # else nobody read it anyway, as a loss that is not printed
                self._owner.setdefault(row, by)
            left += [each.value for each in self._operators[row].reads if each.value >= 0]


def _line(columns: dict[str, Array], row: int) -> int:
    """Of a row of the looked operators; of a backward pass that of the forward operator."""
    forward = int(columns["forward_place"][row])
    return forward if forward >= 0 else int(columns["place"][row])
