"""Rows of one tensor that are taken again and again, and what is computed of each row for itself: always the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken, operators_of, values_of
from gpuprof.analyses.rows.constant_values import ConstantValues, Leaves
from gpuprof.analyses.rows.row_axes import Along
from gpuprof.analyses.rows.row_digits import RowDigit
from gpuprof.analyses.rows.sample_axes import each_sample, evaluates
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a tensor with fewer rows is no set of samples
_LEAST_ROWS = 8
# over all rows: less is hardly saved by computing all of them first
_FEWEST_PASSES = 1.5
_UNIFORM = frozenset(
    ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
)
_STATE = (ValueKind.PARAMETER, ValueKind.GRADIENT, ValueKind.OPTIMIZER_STATE)


@dataclass(frozen=True, eq=False)
class RowsAgain(Result):
    """Of the tensor whose rows take most: `source_rows` it has, `taken_rows` were taken of it, by `gathers` operators.

    `rows`: of looked_operators, those that compute each row for itself, from the same weights each time; `part` of
    their time, 0..1, goes to rows that had been computed, `share` of the time of all operators. `frozen`: that is so of
    all the cell's `passes` over the tensor, as steps of an optimizer in between do not change these weights; else of
    the look alone. `place` is the line where that is most, `taken_at` where rows are taken, `kept_at` where the last
    result is made, `places` all lines that compute them, most time first: rows of the looked places. `result_bytes`: of
    the last result for all rows. `place` is -1 where there are none.
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
        """From the tensors of which rows are taken by number."""
        table = results.get(ValueGraph).operators
        operators, values = operators_of(trace), values_of(trace)
        columns = [table[name].tolist() for name in ("random", "scalars", "iteration")]
        follow = _Followed(operators, values, *columns)
        in_steps = np.flatnonzero(table["optimizer"] >= 0)
        lasted, iterations = table["duration_ns"], results.get(PlainIterations).in_cell
        for source in follow.sources():
            for group in source.groups.values():
                group.judge(source.rows, in_steps, columns[2], iterations)
        best = max(follow.sources(), key=lambda each: each.wasted(lasted), default=None)
        if best is None or best.wasted(lasted) <= 0:
            return cls()
        groups = [each for each in best.groups.values() if each.part > 0]
        chosen = np.array(sorted(row for group in groups for row in group.members), np.int64)
        spent = defaultdict[int, int](int)
        for row in chosen.tolist():
            spent[int(table["place"][row])] += int(lasted[row])
        places = tuple(line for line in sorted(spent, key=lambda line: -spent[line]) if line >= 0)
        last, largest = int(chosen[-1]), max(groups, key=lambda each: float(lasted[each.members].sum()))
        wasted, whole = best.wasted(lasted), float(lasted[chosen].sum())
        return cls(
            place=places[0] if places else -1,
            taken_at=int(table["place"][min(largest.gathers)]),
            kept_at=int(table["place"][last]),
            places=places,
            source_rows=best.rows,
            taken_rows=sum(largest.gathers.values()),
            gathers=len(largest.gathers),
            rows=chosen,
            part=wasted / max(whole, 1.0),
            share=wasted / max(float(lasted.sum()), 1.0),
            frozen=largest.frozen,
            passes=largest.passes,
            result_bytes=_bytes_for_all(trace, operators[last], best.rows, follow.rows_of(last)),
        )


@dataclass
class _Calculation:
    """The same calculation, with the same weights, for each of these gathers; `members` are its operators, `part` of
    their work is for rows that had been computed. `sliced`: rows were taken one after the other."""

    gathers: dict[int, int] = field(default_factory=dict)
    members: list[int] = field(default_factory=list)
    sliced: bool = False
    frozen: bool = False
    passes: float = 0.0
    part: float = 0.0

    def judge(self, rows: int, in_steps: Array, iteration: Sequence[int], iterations: int) -> None:
        """By what was taken in the look, or, where weights changed in between and these did not, in the cell."""
        taken = sum(self.gathers.values())
        seen = {iteration[each] for each in self.gathers}
        between = (in_steps > min(self.gathers)) & (in_steps < max(self.gathers))
        self.frozen = len(seen) > 1 and min(seen) >= 0 and bool(between.any())
        self.passes = (taken / len(seen) * max(iterations, len(seen)) if self.frozen else taken) / rows
        # the same slice again is the same operator with the same arguments: that is told as such
        told = self.frozen or not self.sliced
        self.part = 1 - 1 / self.passes if told and self.passes >= _FEWEST_PASSES else 0.0


@dataclass
class _Source:
    """A tensor of so many rows. `gathers`: by operator that took rows, how many."""

    rows: int
    gathers: dict[int, int] = field(default_factory=dict)
    groups: dict[object, _Calculation] = field(default_factory=dict)

    def wasted(self, lasted: Array) -> float:
        """Time for rows that had been computed, ns."""
        return sum(float(lasted[group.members].sum()) * group.part for group in self.groups.values())


@dataclass(frozen=True)
class _Origin:
    """A value whose rows each follow from the row that operator `gather` took of the tensor `source`."""

    source: int
    gather: int
    digit: RowDigit
    leaves: Leaves


class _Followed:
    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        random: Sequence[bool],
        scalars: Sequence[int],
        iteration: Sequence[int],
    ):
        self._operators, self._values, self._scalars, self._iteration = operators, values, scalars, iteration
        self._constant = ConstantValues(operators, values, random)
        self._origin: dict[int, _Origin] = {}
        self._at: dict[int, _Origin] = {}
        self._sources: dict[int, _Source] = {}
        self._slices: dict[tuple[int, int, int, int], _Origin] = {}
        for row, operator in enumerate(operators):
            if not operator.backward and not random[row]:
                self._follow(row, operator)

    def sources(self) -> Iterator[_Source]:
        """By tensor of which rows are taken."""
        yield from self._sources.values()

    def rows_of(self, row: int) -> int:
        """How many rows that operator computes."""
        return self._sources[self._at[row].source].gathers[self._at[row].gather]

    def _follow(self, row: int, operator: LookedOperator) -> None:
        made = operator.results[0] if operator.results else None
        if made is None or made.value < 0 or made.geometry is None or self._values[made.value].made_by != row:
            return
        if _is_gather(operator):
            self._take(row, operator, made)
            return
        if names.acts(operator.name) and not evaluates(operator):
            return
        found = self._carried(row, operator, made)
        if found is None or (operator.writes and not self._stays(operator, found)):
            return
        for each in operator.results:
            if each.value >= 0 and each.geometry is not None and self._values[each.value].made_by == row:
                digit = found.digit if each is made else self._same_axis(found, made, each)
                if digit is not None:
                    self._origin[each.value] = _Origin(found.source, found.gather, digit, found.leaves)
        self._at[row] = found
        key = (operator.name, self._scalars[row], made.geometry.shape[1:], found.leaves)
        group = self._sources[found.source].groups.setdefault(key, _Calculation())
        group.gathers[found.gather] = self._sources[found.source].gathers[found.gather]
        group.members.append(row)
        group.sliced = not _is_gather(self._operators[found.gather])

    def _take(self, row: int, operator: LookedOperator, made: Taken) -> None:
        source = operator.reads[0]
        known = self._values[source.value] if source.value >= 0 else None
        if known is None or known.kind in _STATE or source.geometry is None or made.geometry is None:
            return
        rows, digit = source.geometry.shape[0], RowDigit.of_axis(made.geometry, 0)
        leaves = self._constant.leaves(source.value)
        if rows < _LEAST_ROWS or digit is None or leaves is None:
            return
        self._sources.setdefault(source.value, _Source(rows)).gathers[row] = made.geometry.shape[0]
        self._origin[made.value] = _Origin(source.value, row, digit, leaves)

    def _carried(self, row: int, operator: LookedOperator, made: Taken) -> _Origin | None:
        """The rows of the result, where each follows from one row alone, and from what does not change."""
        mapping = each_sample(operator)
        if mapping is None or made.geometry is None:
            return None
        gathered = [self._origin.get(each.value) for each in operator.reads]
        if not any(gathered):
            gathered = [self._sliced(row, each) for each in operator.reads]
        found, leaves = None, frozenset[int]()
        for taken, axes, origin in zip(operator.reads, mapping, gathered, strict=True):
            own = self._constant.leaves(taken.value) if origin is None else origin.leaves
            if own is None:
                return None
            leaves |= own
            digit = None if origin is None else _moved(origin.digit, taken, axes, made)
            if origin is not None and digit is None:
                return None
            if origin is not None and digit is not None:
                one = _Origin(origin.source, origin.gather, digit, leaves)
                if found is not None and (found.source, found.gather, found.digit) != (one.source, one.gather, digit):
                    return None
                found = one
        if found is None:
            return None
        rows = found.digit.axis_of(made.geometry)
        for taken, axes, origin in zip(operator.reads, mapping, gathered, strict=True):
            # a constant that is another one for each place: the same row elsewhere gives something else
            if origin is None and rows in axes and not self._is_like_in_rows(taken, found.digit):
                return None
        return _Origin(found.source, found.gather, found.digit, leaves)

    def _is_like_in_rows(self, taken: Taken, digit: RowDigit) -> bool:
        """Whether all of a constant is one number, or follows from such ones, the same for each row."""
        maker = self._values[taken.value].made_by if taken.value >= 0 else -1
        if maker < 0:
            return False
        operator = self._operators[maker]
        if names.plain(operator.name) in _UNIFORM:
            return True
        made, mapping = operator.results[0].geometry, each_sample(operator)
        axis = digit.axis_of(made) if made is not None else None
        if mapping is None or axis is None or operator.writes:
            return False
        across = [each for each, axes in zip(operator.reads, mapping, strict=True) if axis in axes]
        return all(names.plain(self._maker_of(each)) in _UNIFORM for each in across)

    def _maker_of(self, taken: Taken) -> str:
        maker = self._values[taken.value].made_by if taken.value >= 0 else -1
        return self._operators[maker].name if maker >= 0 else ""

    def _sliced(self, row: int, taken: Taken) -> _Origin | None:
        """`x[begin:end]`, rows in a row of a tensor that does not change."""
        known = self._values[taken.value] if taken.value >= 0 else None
        view = taken.geometry
        if known is None or view is None or len(view.shape) < 2 or known.kind in _STATE:
            return None
        whole = known.elements // view.strides[0] if view.strides[0] else 0
        if view != Geometry(view.shape, contiguous(view.shape).strides, view.offset) or view.offset % view.strides[0]:
            return None
        if not 1 < view.shape[0] < whole or whole < _LEAST_ROWS:
            return None
        leaves, key = (
            self._constant.leaves(taken.value),
            (taken.value, view.offset, view.shape[0], self._iteration[row]),
        )
        digit = RowDigit.of_axis(view, 0)
        if leaves is None or digit is None:
            return None
        if key not in self._slices:
            self._sources.setdefault(taken.value, _Source(whole)).gathers[row] = view.shape[0]
            self._slices[key] = _Origin(taken.value, row, digit, leaves)
        return self._slices[key]

    def _stays(self, operator: LookedOperator, found: _Origin) -> bool:
        """Whether what it writes to, or to a part of it, held the same rows before."""
        first = operator.reads[0]
        before = self._origin.get(first.value)
        if before is None:
            return self._constant.leaves(first.value) is not None and self._is_like_in_rows(first, found.digit)
        return (before.gather, before.digit) == (found.gather, found.digit)

    def _same_axis(self, found: _Origin, made: Taken, other: Taken) -> RowDigit | None:
        """Of a further result of the same shape."""
        assert made.geometry is not None and other.geometry is not None
        axis = found.digit.axis_of(made.geometry)
        if axis is None or made.geometry.shape != other.geometry.shape:
            return None
        return found.digit.moved(made.geometry, axis, other.geometry, axis)


def _moved(digit: RowDigit, taken: Taken, axes: Along, made: Taken) -> RowDigit | None:
    assert made.geometry is not None
    axis = digit.axis_of(taken.geometry) if taken.geometry is not None else None
    to = next((each for each, mine in axes.items() if mine == axis), None)
    if axis is None or to is None or taken.geometry is None:
        return None
    return digit.moved(taken.geometry, axis, made.geometry, to)


def _is_gather(operator: LookedOperator) -> bool:
    """`x[numbers]` and `x.index_select(0, numbers)`: rows along the first axis."""
    name, reads, given = names.plain(operator.name), operator.reads, operator.arguments
    if operator.backward or len(reads) != 2 or given is None or reads[0].geometry is None or reads[1].geometry is None:
        return False
    if not reads[0].geometry.shape or len(reads[1].geometry.shape) != 1 or not operator.results:
        return False
    if name == "index":
        return len(given) > 1 and given[1] == [None]
    return name == "index_select" and len(given) > 1 and given[1] == 0


def _bytes_for_all(trace: Trace, operator: LookedOperator, source_rows: int, taken_rows: int) -> int:
    made = operator.results[0]
    values = trace.looked_values
    each = int(values["bytes"][made.value]) / max(int(values["elements"][made.value]), 1)
    return round(made.elements * each * source_rows / max(taken_rows, 1))
