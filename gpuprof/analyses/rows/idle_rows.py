"""Work on rows that have no effect on a loss, as it ignores their targets or masks them: by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, operators_of, values_of
from gpuprof.analyses.demand.unread_work import UnreadWork
from gpuprof.analyses.rows.row_flow import RowFlow, RowPart
from gpuprof.analyses.rows.row_selections import DroppedRows, RowSelections
from gpuprof.analyses.rows.row_sets import RowSelection
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the time at a line that goes to such rows: else the line does more than work on them, as a whole model
_OF_LINE = 0.7
# arguments of `nll_loss_forward`: how the losses of rows are joined, and the target that it ignores
_REDUCED_AT, _IGNORED_AT = 3, 4
_NOT_REDUCED = 0
_LAYERS = frozenset(names.PRODUCTS) | names.BATCHED | {"linear"}


@dataclass(frozen=True, eq=False)
class IdleRows(Result):
    """Of the line with most time for such rows: `kept` of `rows` rows are in the loss, in one iteration.

    `place` is the line of the last layer that computes all of them, `from_place` the first line from which on they are
    of no use, `dropped_at` the line that leaves them out, `places` all lines that compute them, most time first: rows
    of the looked places. `ignored`: targets that the loss ignores (`ignore_index`); else a mask, or a selection of
    losses. `ignored_index`: the number that it ignores, where it is known; `left_in`: rows without effect stay in the
    result, so that a mean counts them. Operators at `taken` of looked_operators take `rows_ns`, of which `wasted_ns` go
    to rows without effect, `share` of the time of all operators, 0..1; `forward_share` of them in forward passes.
    `place` is -1 where there are none.
    """

    place: int = -1
    from_place: int = -1
    dropped_at: int = -1
    places: tuple[int, ...] = ()
    ignored: bool = False
    ignored_index: int | None = None
    left_in: bool = False
    kept: int = 0
    rows: int = 0
    taken: Array = field(default_factory=lambda: np.empty(0, np.int64))
    rows_ns: int = 0
    wasted_ns: int = 0
    share: float = 0.0
    forward_share: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the masks and targets, and what follows from them before and after."""
        graph = results.get(ValueGraph)
        if not graph.operators["backward"].any() or not results.get(UnreadWork).looked:
            return cls()
        table = graph.operators
        columns = [table[name].tolist() for name in ("place", "forward_place", "forward_operator", "duration_ns")]
        operators, values = operators_of(trace), values_of(trace)
        selections = RowSelections(operators, values, *_masks(trace, graph))
        iteration = table["iteration"].tolist()
        dropped = _in_each_iteration(operators, selections.found, columns[0], iteration)
        if not dropped:
            return cls()
        spared = _spared(operators, values, columns[0], iteration)
        parts = RowFlow(operators, values, columns[2], dropped, spared).parts
        claims = _Claims(operators, selections, dropped, parts, graph.making.tolist(), *columns)
        return cls._of_line(claims) if any(claims.wasted.values()) else cls()

    @classmethod
    def _of_line(cls, claims: _Claims) -> Self:
        by_line = defaultdict[int, list[int]](list)
        for row in claims.wasted:
            by_line[claims.head_line(row)].append(row)
        place = max(by_line, key=lambda line: sum(claims.wasted[row] for row in by_line[line]))
        largest = max(by_line[place], key=lambda row: claims.wasted[row])
        first = claims.origin(largest)
        spent = defaultdict[int, float](float)
        for row, wasted in claims.wasted.items():
            spent[claims.line(row)] += wasted
        rows, whole = sorted(claims.wasted), sum(claims.wasted.values())
        forward = sum(wasted for row, wasted in claims.wasted.items() if not claims.operators[row].backward)
        return cls(
            place=place,
            from_place=claims.line(claims.earliest(rows, first)),
            dropped_at=claims.place[first.row],
            places=tuple(line for line in sorted(spent, key=lambda line: -spent[line]) if line >= 0),
            ignored=_is_ignoring(claims.operators[first.row]),
            ignored_index=_ignored_index(claims.operators[first.row]),
            left_in=_left_in(claims.operators[first.row]),
            kept=first.kept,
            rows=first.rows,
            taken=np.array(rows, np.int64),
            rows_ns=sum(claims.lasted[row] for row in rows),
            wasted_ns=round(whole),
            share=whole / max(float(sum(claims.lasted)), 1.0),
            forward_share=forward / whole,
        )


@dataclass
class _Claims:
    """`wasted`: by operator the time that goes to rows without effect: not that of what the masks follow from, nor at
    lines that mostly do something else, as a whole model."""

    operators: Sequence[LookedOperator]
    selections: RowSelections
    dropped: Mapping[int, DroppedRows]
    parts: Mapping[int, RowPart]
    making: Sequence[bool]
    place: Sequence[int]
    forward_place: Sequence[int]
    forward: Sequence[int]
    lasted: Sequence[int]

    def __post_init__(self) -> None:
        self._origins = defaultdict[RowSelection, list[DroppedRows]](list)
        for each in self.dropped.values():
            self._origins[each.selection].append(each)
        self._followed = defaultdict[RowSelection, set[int]](set)
        for row, part in self.parts.items():
            for selection in part.of:
                self._followed[selection].add(self._own(row))
        self._heads = {
            selection: max((row for row in rows if self._is_layer(row)), default=-1)
            for selection, rows in self._followed.items()
        }
        self._known = {selection: self._is_known(selection) for selection in self._followed}
        self.wasted = self._claimed()

    def line(self, row: int) -> int:
        """Of a backward pass that of the forward operator."""
        return self.forward_place[row] if self.forward_place[row] >= 0 else self.place[row]

    def head_line(self, row: int) -> int:
        """The line of the last layer before the rows are dropped."""
        return self.place[self._head(row)]

    def earliest(self, rows: Sequence[int], before: DroppedRows) -> int:
        """Of these operators the one that computes the rows first."""
        own = [row for row in rows if before.selection in self.parts[row].of and self._own(row) >= 0]
        return min(own, key=self._own)

    def origin(self, row: int) -> DroppedRows:
        """What drops the rows of that operator."""
        return min((each for of in self.parts[row].of for each in self._origins[of]), key=lambda each: each.row)

    def _claimed(self) -> dict[int, float]:
        claimed, spent, whole = set[int](), defaultdict[int, int](int), defaultdict[int, int](int)
        for row, lasted in enumerate(self.lasted):
            # a view is no work
            whole[self.line(row)] += lasted if self.making[row] else 0
            if row in self.parts and self._may_be_left_out(row):
                claimed.add(row)
                spent[self.line(row)] += lasted
        mostly = {line for line, lasted in spent.items() if line >= 0 and lasted >= _OF_LINE * whole[line]}
        return {
            row: self.parts[row].wasted_share * self.lasted[row]
            for row in claimed
            if self.line(row) in mostly or self._own(row) >= self._head(row)
        }

    def _may_be_left_out(self, row: int) -> bool:
        own, of = self._own(row), self.parts[row].of
        if not self.parts[row].wasted_share or not all(self._known[each] for each in of):
            return False
        return not any(own in self.selections.decided_by(each) for selection in of for each in self._origins[selection])

    def _is_known(self, selection: RowSelection) -> bool:
        """Whether a layer computes the rows, and its results are not what the mask may have been made from."""
        origins, head = self._origins[selection], self._heads[selection]
        first = min(origins, key=lambda each: each.row)
        if head < 0 or any(head in self.selections.decided_by(each) for each in origins):
            return False
        rows = {row for row in self._followed[selection] if 0 <= row < first.row}
        return not self.selections.shown_before(first, rows)

    def _head(self, row: int) -> int:
        return max(self._heads[each] for each in self.parts[row].of)

    def _own(self, row: int) -> int:
        """The forward operator."""
        return self.forward[row] if self.operators[row].backward else row

    def _is_layer(self, row: int) -> bool:
        return row >= 0 and names.plain(self.operators[row].name) in _LAYERS


def _is_ignoring(operator: LookedOperator) -> bool:
    return names.plain(operator.name).startswith("nll_loss")


def _ignored_index(operator: LookedOperator) -> int | None:
    given = operator.arguments or ()
    number = given[_IGNORED_AT] if _is_ignoring(operator) and len(given) > _IGNORED_AT else None
    return number if isinstance(number, int) else None


def _left_in(operator: LookedOperator) -> bool:
    """Whether a mean over what it makes divides by the number of all rows: unless they are selected, or it is the mean
    of those that count."""
    if not _is_ignoring(operator):
        return names.plain(operator.name) != "index"
    given = operator.arguments or ()
    return len(given) > _REDUCED_AT and given[_REDUCED_AT] == _NOT_REDUCED


def _masks(trace: Trace, graph: ValueGraph) -> tuple[list[set[int]], list[float], set[int]]:
    """By operator the tensors that it reads with a gradient, and what it leaves out; values that are booleans."""
    followed = [set[int]() for _ in range(len(graph.operators))]
    reads, by = graph.reads, graph.inputs
    for operator in range(len(followed)):
        rows = by.of(operator)
        followed[operator].update(np.flatnonzero(reads["grad"][rows]).tolist())
    dtypes = graph.values["dtype"].tolist()
    booleans = {number for number, dtype in enumerate(dtypes) if dtype >= 0 and trace.names[dtype] == "bool"}
    return followed, graph.operators["left_out_share"].tolist(), booleans


def _in_each_iteration(
    operators: Sequence[LookedOperator],
    found: Mapping[int, DroppedRows],
    place: Sequence[int],
    iteration: Sequence[int],
) -> dict[int, DroppedRows]:
    """Those that drop rows in each iteration in which their line runs."""
    lines = {(operators[row].name, place[row]) for row in found}
    ran, dropping = defaultdict[tuple[str, int], set[int]](set), defaultdict[tuple[str, int], set[int]](set)
    for row, operator in enumerate(operators):
        line = operator.name, place[row]
        if line in lines and not operator.backward:
            ran[line].add(iteration[row])
            if row in found:
                dropping[line].add(iteration[row])
    steady = {line for line in lines if ran[line] == dropping[line]}
    return {row: each for row, each in found.items() if (operators[row].name, place[row]) in steady}


def _spared(
    operators: Sequence[LookedOperator], values: Sequence[LookedValue], place: Sequence[int], iteration: Sequence[int]
) -> frozenset[int]:
    """Values of the last iteration that are there at the end of the look, where all those that the same line made in
    earlier ones are gone: the next iteration takes their names."""
    last = max(iteration, default=-1)
    before, kept = defaultdict[tuple[str, int], bool](bool), list[tuple[int, tuple[str, int]]]()
    for number, value in enumerate(values):
        if value.made_by < 0 or value.kind is not ValueKind.OTHER:
            continue
        line = operators[value.made_by].name, place[value.made_by]
        if iteration[value.made_by] < last:
            before[line] = before[line] or value.kept
        elif value.kept:
            kept.append((number, line))
    return frozenset(number for number, line in kept if line in before and not before[line])
