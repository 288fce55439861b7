"""Rows of one tensor that are taken again and again, and what is computed of each row for itself: always the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import LookedOperator, operators_of, values_of
from gpuprof.analyses.rows.followed_rows import FollowedRows, SameWork
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# over all rows: less is hardly saved by computing all of them first
_FEWEST_PASSES = 1.5


@dataclass(frozen=True, eq=False)
class RowsAgain(Result):
    """Of the tensor whose rows take most: it has `source_rows`. The work that takes most computed `taken_rows` of them,
    for `gathers` operators that took rows.

    `rows`: of looked_operators, those that compute each row for itself, always from the same weights; `part` of their
    time, 0..1, goes to rows that had been computed, `share` of the time of all operators. `frozen`: an optimizer
    changed other weights in between, and `passes` is how often all iterations of the cell would go over the rows, were
    they like those of the look; else the passes in the look. `place` is the line where that is most, `taken_at` where
    rows are taken, `kept_at` the outermost line that reaches most of it, whose result can be kept, `places` all lines
    that compute them, most time first: rows of the looked places. `result_bytes`: of that result for all rows. `place`
    is -1 where there are none.
    """

    place: int = -1
    taken_at: int = -1
    kept_at: int = -1
    places: tuple[int, ...] = ()
    source_rows: int = 0
    taken_rows: int = 0
    gathers: int = 0
    rows: Array = field(default_factory=lambda: np.empty(0, np.int64))
    part: float = 0.0
    share: float = 0.0
    frozen: bool = False
    passes: float = 0.0
    result_bytes: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the tensors of which rows are taken by number, or in slices."""
        table = results.get(ValueGraph).operators
        operators = operators_of(trace)
        if not operators:
            return cls()
        columns = [table[name].tolist() for name in ("random", "scalars", "iteration")]
        followed = FollowedRows(operators, values_of(trace), *columns)
        judged = list(_judged(followed, table, results.get(PlainIterations).in_cell))
        by_source = defaultdict[object, list[_WorkAgain]](list)
        for each in judged:
            by_source[each.work.source].append(each)
        lasted = table["duration_ns"]
        best = max(by_source.values(), key=lambda each: sum(one.wasted_ns for one in each), default=None)
        return cls() if best is None else cls._of_source(trace, operators, table, best, float(lasted.sum()))

    @classmethod
    def _of_source(
        cls, trace: Trace, operators: Sequence[LookedOperator], table: Table, best: list[_WorkAgain], whole_ns: float
    ) -> Self:
        chosen = np.array(sorted(row for each in best for row in each.work.members), np.int64)
        lasted, spent = table["duration_ns"], defaultdict[int, int](int)
        for row in chosen.tolist():
            spent[int(table["place"][row])] += int(lasted[row])
        places = tuple(line for line in sorted(spent, key=lambda line: -spent[line]) if line >= 0)
        largest = max(best, key=lambda each: each.wasted_ns)
        # of the same network on the same rows
        alike = [each.work for each in best if each.work.gathers.keys() == largest.work.gathers.keys()]
        called = _called_at(trace, table, sorted(row for each in alike for row in each.members))
        called_most = _most(called, lasted)
        last = max(row for row, place in called.items() if place == called_most)
        wasted = sum(each.wasted_ns for each in best)
        taken = sum(largest.work.gathers.values())
        return cls(
            place=places[0] if places else -1,
            taken_at=int(table["place"][min(largest.work.gathers)]),
            kept_at=called_most,
            places=places,
            source_rows=largest.work.rows,
            taken_rows=taken,
            gathers=len(largest.work.gathers),
            rows=chosen,
            part=wasted / max(float(lasted[chosen].sum()), 1.0),
            share=wasted / max(whole_ns, 1.0),
            frozen=largest.frozen,
            passes=largest.passes,
            result_bytes=_bytes_for_all(trace, operators[last], largest.work.rows, taken // len(largest.work.gathers)),
        )


def _called_at(trace: Trace, table: Table, rows: Sequence[int]) -> dict[int, int]:
    """Of each operator the outermost line on its way: what it calls is one result to keep."""
    look = trace.context.look
    paths = look.paths if look is not None else ()
    on_path = {row: int(trace.looked_operators["path"][row]) for row in rows}
    return {row: paths[path][-1] if path >= 0 else int(table["place"][row]) for row, path in on_path.items()}


def _most(called: Mapping[int, int], lasted: Array) -> int:
    spent = defaultdict[int, int](int)
    for row, place in called.items():
        spent[place] += int(lasted[row])
    return max(spent, key=lambda place: spent[place])


@dataclass(frozen=True)
class _WorkAgain:
    work: SameWork
    frozen: bool
    passes: float
    wasted_ns: float


def _judged(followed: FollowedRows, table: Table, iterations: int) -> Iterator[_WorkAgain]:
    """The work that is done again, by what the look saw, or, where an optimizer changed other weights meanwhile, by
    what all iterations of the cell would do."""
    lasted, iteration = table["duration_ns"], table["iteration"].tolist()
    # a weight that changes, or may be given a gradient, is no constant
    trains = np.flatnonzero((table["optimizer"] >= 0) | table["backward"])
    steps = np.flatnonzero(table["optimizer"] >= 0)
    for work in followed.works():
        first, last = min(work.gathers), max(work.gathers)
        if table["graph"][work.members].any() or last == first:
            continue
        taken, seen = sum(work.gathers.values()), {iteration[each] for each in work.gathers}
        trained = np.searchsorted(trains, last) > np.searchsorted(trains, first)
        frozen = bool(np.searchsorted(steps, last) > np.searchsorted(steps, first)) and len(seen) > 1 and min(seen) >= 0
        if trained and (not frozen or not work.stays or followed.has_others(work)):
            continue
        if not trained and work.sliced:
            continue  # the same slice again is the same operator with the same arguments: that is told as such
        passes = (taken / len(seen) * max(iterations, len(seen)) if frozen else taken) / work.rows
        if passes >= _FEWEST_PASSES:
            yield _WorkAgain(work, frozen, passes, float(lasted[work.members].sum()) * (1 - 1 / passes))


def _bytes_for_all(trace: Trace, operator: LookedOperator, source_rows: int, taken_rows: int) -> int:
    made = operator.results[0]
    values = trace.looked_values
    each = int(values["bytes"][made.value]) / max(int(values["elements"][made.value]), 1)
    return round(made.elements * each * source_rows / max(taken_rows, 1))
