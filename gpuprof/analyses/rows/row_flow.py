"""Follows selections of rows through the looked-at operators: which rows of gradients are zeros, and which rows of all
else are needed, where a loss takes only some of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.flow import opaque, written_elsewhere
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.analyses.rows.row_axes import LIKELIHOODS, SUMS_BESIDE, along, summed, zero_with
from gpuprof.analyses.rows.row_selections import DroppedRows
from gpuprof.analyses.rows.row_sets import Axes, Rows, RowSelection, count, spans_of

_OWN_BACKWARD = {"index": "index_put", "binary_cross_entropy": "binary_cross_entropy_backward"}
_OWN_BACKWARD |= {"nll_loss_forward": "nll_loss_backward", "nll_loss2d_forward": "nll_loss2d_backward"}
_OWN_BACKWARD |= {"binary_cross_entropy_with_logits": "mul"}


@dataclass(frozen=True)
class RowPart:
    """Of an operator's rows `kept` of `rows` have an effect, those of the selections `of`."""

    kept: int
    rows: int
    of: frozenset[RowSelection]

    @property
    def wasted_share(self) -> float:
        """Of its work."""
        return max(1 - self.kept / self.rows, 0.0) if self.rows else 0.0


_AxesOf = tuple[Axes, frozenset[RowSelection]]


class RowFlow:
    """`parts`: by operator, of those that a selection of rows would do for. `forward`: by operator of a backward pass
    the operator whose node runs; `spared`: values that are there at the end and need not be, as those of other
    iterations are gone."""

    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        forward: Sequence[int],
        dropped: Mapping[int, DroppedRows],
        spared: frozenset[int],
    ):
        self._operators, self._values, self._forward = operators, values, forward
        self._dropped, self._spared = dropped, spared
        self._unknown = opaque(operators, values) | written_elsewhere(operators, values)
        self._filled: dict[int, Rows] = {}
        # None: all of it
        self._wanted: dict[int, Rows | None] = {}
        self.parts: dict[int, RowPart] = {}
        if dropped:
            for row, operator in enumerate(operators):
                if operator.backward:
                    self._fill(row, operator)
            for row in range(len(operators) - 1, -1, -1):
                self._back_through(row)

    def _fill(self, row: int, operator: LookedOperator) -> None:
        """Which rows of a gradient may be other than zero."""
        made = operator.results[0] if operator.results else None
        if made is None or not self._is_whole(row, made) or made.geometry is None:
            return
        found = min(self._found(row, operator, made), key=lambda each: sum(one.kept for one in each[1]), default=None)
        spans = None if found is None else spans_of(made.geometry, found[0])
        if found is not None and spans is not None:
            self._filled[made.value] = Rows(spans, found[1])

    def _found(self, row: int, operator: LookedOperator, made: Taken) -> Iterator[_AxesOf]:
        assert made.geometry is not None
        dropped = self._dropped.get(self._forward[row])
        if dropped is not None and self._drops(operator, dropped, made.geometry.shape):
            yield dropped.axes, frozenset({dropped.selection})
        mapping = along(operator)
        if mapping is None:
            return
        given = [self._filled_axes(each) for each in operator.reads]
        own = [_carried(one, along_one) for one, along_one in zip(given, mapping, strict=True)]
        for at in zero_with(operator):
            known = own[at] if at < len(own) else None
            if known is not None:
                yield known
        if names.plain(operator.name) in ("add", "sub") and len(own) == 2:
            first, second = own
            if first is not None and second is not None and first[0] == second[0]:
                yield first[0], first[1] | second[1]

    def _drops(self, operator: LookedOperator, dropped: DroppedRows, shape: tuple[int, ...]) -> bool:
        """Whether this operator of its node zeroes the gradient of the rows."""
        before = self._operators[dropped.row]
        name, own = names.plain(operator.name), names.plain(before.name)
        taken = before.reads[dropped.at].geometry
        if taken is None or taken.shape != shape or name != _OWN_BACKWARD.get(own, own):
            return False
        return name != "mul" or any(each.value == dropped.mask for each in operator.reads)

    def _filled_axes(self, taken: Taken) -> _AxesOf | None:
        filled = self._filled.get(taken.value)
        axes = None if filled is None or taken.geometry is None else filled.axes(taken.geometry)
        return None if filled is None or axes is None else (axes, filled.of)

    def _back_through(self, row: int) -> None:
        operator = self._operators[row]
        made = [each for each in operator.results if each.value >= 0 and self._values[each.value].made_by == row]
        if not made:
            if operator.writes or not operator.results or any(each.value < 0 for each in operator.results):
                self._all_of(operator.reads)
            return
        if len(made) != len(operator.results) or not all(self._is_whole(row, each) for each in made):
            self._all_of(operator.reads)
            return
        wanted = [self._want(each) for each in made]
        acts = names.acts(operator.name)
        if not acts and all(each is not None and not each.of for each in wanted):
            return
        found = None if acts else self._needs(operator, made, wanted)
        dropped = self._dropped.get(row)
        for at, taken in enumerate(operator.reads):
            need = None if found is None else found[at]
            if dropped is not None and at == dropped.at:
                need = _less(need, dropped.of(taken))
            self._add(taken, need)
        part = None if found is None else self._part(operator, made, found)
        if part is not None:
            self.parts[row] = part

    def _needs(
        self, operator: LookedOperator, made: Sequence[Taken], wanted: Sequence[Rows | None]
    ) -> list[Rows | None] | None:
        """What is needed of each tensor that it reads; None where that is everything of all of them."""
        adding = self._added(operator)
        if adding is not None:
            return adding
        # beside its losses a likelihood has the sum of their weights, one number
        one = names.plain(operator.name) in LIKELIHOODS
        rows = self._rows(made[:1], wanted[:1]) if one else self._rows(made, wanted)
        mapping = None if rows is None else along(operator)
        if rows is None or mapping is None:
            return None
        axes, of = rows
        if not axes <= set().union(*(each.keys() for each in mapping)):
            return None
        return [
            self._in(taken, frozenset(one[axis] for axis in axes), of) if axes <= one.keys() else None
            for taken, one in zip(operator.reads, mapping, strict=True)
        ]

    def _added(self, operator: LookedOperator) -> list[Rows | None] | None:
        """Where it adds up rows of a gradient that are mostly zeros, as for a weight."""
        given = [self._filled_axes(each) for each in operator.reads]
        if names.plain(operator.name) in SUMS_BESIDE and given[0] is not None:
            mapping = along(operator)
            axes, of = given[0]
            if mapping is None or not axes <= set(mapping[0].values()):
                return None
            keys = {made for made, own in mapping[0].items() if own in axes}
            return [
                self._in(taken, frozenset(one[key] for key in keys), of) if keys <= one.keys() else None
                for taken, one in zip(operator.reads, mapping, strict=True)
            ]
        for at, each in enumerate(given):
            sums = None if each is None else summed(operator, at, each[0])
            if each is not None and sums is not None:
                pairs = zip(operator.reads, sums, strict=True)
                return [None if own is None else self._in(taken, own, each[1]) for taken, own in pairs]
        return None

    def _rows(self, made: Sequence[Taken], wanted: Sequence[Rows | None]) -> _AxesOf | None:
        found: Axes | None = None
        of = frozenset[RowSelection]()
        for taken, want in zip(made, wanted, strict=True):
            if want is None or taken.geometry is None:
                return None
            if not want.of:
                continue
            axes = want.axes(taken.geometry)
            if axes is None or found not in (None, axes):
                return None
            found, of = axes, of | want.of
        return None if found is None else (found, of)

    def _want(self, taken: Taken) -> Rows | None:
        """Of what is made; rows of no selection where nothing is needed."""
        value = self._values[taken.value]
        kept = value.kept and taken.value not in self._spared
        everything = value.read_outside or kept or value.storage in self._unknown
        want = None if everything else self._wanted.get(taken.value, _NOTHING)
        # zeros are known without computing them
        return _less(want, self._filled.get(taken.value))

    def _part(self, operator: LookedOperator, made: Sequence[Taken], found: Sequence[Rows | None]) -> RowPart | None:
        for taken, rows in zip(operator.reads, found, strict=True):
            axes = rows.axes(taken.geometry) if rows is not None and taken.geometry is not None else None
            if rows is not None and axes is not None and taken.geometry is not None:
                return RowPart(rows.kept, count(taken.geometry.shape, axes), rows.of)
        return None

    def _in(self, taken: Taken, axes: Axes, of: frozenset[RowSelection]) -> Rows | None:
        spans = spans_of(taken.geometry, axes) if taken.geometry is not None else None
        return None if spans is None else Rows(spans, of)

    def _is_whole(self, row: int, taken: Taken) -> bool:
        known = self._values[taken.value] if taken.value >= 0 else None
        if known is None or taken.geometry is None or known.made_by != row or known.storage in self._unknown:
            return False
        return taken.geometry.elements == known.elements == taken.geometry.distinct

    def _all_of(self, reads: Sequence[Taken]) -> None:
        for taken in reads:
            self._add(taken, None)

    def _add(self, taken: Taken, need: Rows | None) -> None:
        value = taken.value
        if value < 0 or self._values[value].made_by < 0 or (need is not None and not need.of):
            return
        if value not in self._wanted:
            self._wanted[value] = need
            return
        before = self._wanted[value]
        self._wanted[value] = None if before is None or need is None else before.also(need)


_NOTHING = Rows((), frozenset())


def _carried(given: _AxesOf | None, one: Mapping[int, int]) -> _AxesOf | None:
    """Rows of an argument as rows of the result."""
    if given is None or not given[0] <= set(one.values()):
        return None
    return frozenset(made for made, own in one.items() if own in given[0]), given[1]


def _less(one: Rows | None, other: Rows | None) -> Rows | None:
    """Where both are enough, the smaller one; None is everything."""
    if one is None or other is None:
        return other if one is None else one
    return one if one.kept <= other.kept else other
