"""Where rows drop out of a loss: targets that it ignores, and masks that it is multiplied with or selected by.

Only where the rows are known before: a mask that follows from the result itself, as in hard example mining, is told by
`decided_by`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.analyses.rows.row_sets import Axes, Rows, RowSelection, count, spans_of
from gpuprof.model.kinds import ValueKind

# of the rows: fewer are not followed
_LEAST_LEFT_OUT = 0.2
_IGNORING = {"nll_loss_forward": frozenset({0}), "nll_loss2d_forward": frozenset({0, 2, 3})}
# where they read the mask
_MASK_AT = {"masked_fill": 1, "where": 0, "binary_cross_entropy": 2, "binary_cross_entropy_with_logits": 2}
# what of a mask says the same in another way
_RESTATED = frozenset({"eq", "ne", "gt", "lt", "ge", "le", "logical_not", "bitwise_not"})
_RESTATED |= {"_to_copy", "clone", "detach", "alias"}
# a scale or a temperature that is learned is no layer
_LARGEST_SCALE = 16


@dataclass(frozen=True)
class DroppedRows:
    """Operator `row` takes, of the rows along `axes` of the tensor that it reads `at`, `kept` of `rows`; `mask` is the
    value that says which."""

    row: int
    at: int
    axes: Axes
    mask: int
    root: int
    kept: int
    rows: int

    @property
    def selection(self) -> RowSelection:
        """The rows that it takes."""
        return RowSelection(self.root, self.kept)

    @property
    def left_out(self) -> float:
        """Share of the rows."""
        return 1 - self.kept / self.rows

    def of(self, taken: Taken) -> Rows | None:
        """The rows in the storage of the tensor that it reads."""
        spans = spans_of(taken.geometry, self.axes) if taken.geometry is not None else None
        return None if spans is None else Rows(spans, frozenset({self.selection}))


class RowSelections:
    """`found`: by operator. `followed`: of each operator which of its reads autograd follows; `left_out`: see
    `left_out_share`; `masks`: values that are booleans."""

    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        followed: Sequence[Collection[int]],
        left_out: Sequence[float],
        masks: Collection[int],
    ):
        self._operators, self._values, self._masks = operators, values, masks
        self._before = defaultdict[int, list[int]](list)
        for number, value in enumerate(values):
            self._before[value.storage].append(number)
        self._decided: dict[int, frozenset[int]] = {}
        layered: set[int] | None = None
        self.found: dict[int, DroppedRows] = {}
        for row, operator in enumerate(operators):
            # a metric may select without a gradient
            if operator.backward or not (followed[row] or names.plain(operator.name) == "index"):
                continue
            dropped = self._at(row, operator, followed[row], left_out[row])
            if dropped is None or not _LEAST_LEFT_OUT <= dropped.left_out < 1:
                continue
            layered = self._in_layers() if layered is None else layered
            if not any(each.value in layered for each in operator.results):
                self.found[row] = dropped

    def decided_by(self, dropped: DroppedRows) -> frozenset[int]:
        """The operators that the mask follows from."""
        if dropped.mask not in self._decided:
            self._decided[dropped.mask] = frozenset(self._sources(dropped.mask))
        return self._decided[dropped.mask]

    def shown_before(self, dropped: DroppedRows, rows: Collection[int]) -> bool:
        """Whether something else than an operator may have seen what follows from the results of these operators before
        the rows are dropped: a mask may come from there."""
        known = set[int]()
        for row in range(min(rows, default=dropped.row), dropped.row):
            operator = self._operators[row]
            if row not in rows and not any(each.value in known for each in operator.reads):
                continue
            for each in operator.results:
                known.add(each.value)
                if each.value >= 0 and each.elements > 1 and self._values[each.value].read_outside:
                    return True
        return False

    def _at(self, row: int, operator: LookedOperator, followed: Collection[int], left_out: float) -> DroppedRows | None:
        name, reads = names.plain(operator.name), operator.reads
        if name == "index":
            return self._indexed(row, operator)
        if left_out != left_out:
            return None
        if name in _IGNORING and len(reads) > 1:
            return self._dropped(row, 0, _IGNORING[name], reads[1].value, left_out)
        at = next(iter(followed)) if name in ("mul", "where") and len(followed) == 1 else 0
        mask = 1 - at if name == "mul" else _MASK_AT.get(name, -1)
        if not 0 <= mask < len(reads) or mask == at:
            return None
        axes = _masked_axes(reads[at], reads[mask])
        return None if axes is None else self._dropped(row, at, axes, reads[mask].value, left_out)

    def _dropped(self, row: int, at: int, axes: Axes, mask: int, left_out: float) -> DroppedRows | None:
        geometry = self._operators[row].reads[at].geometry
        if geometry is None or mask < 0 or max(axes, default=0) >= len(geometry.shape):
            return None
        rows = count(geometry.shape, axes)
        return DroppedRows(row, at, axes, mask, self._root(mask), round((1 - left_out) * rows), rows) if rows else None

    def _indexed(self, row: int, operator: LookedOperator) -> DroppedRows | None:
        """`losses[mask]`, or of the numbers of rows."""
        reads, given = operator.reads, operator.arguments
        if len(reads) != 2 or given is None or len(given) < 2 or given[1] != [None] or not operator.results:
            return None
        made, by = operator.results[0].geometry, reads[1].geometry
        if reads[0].geometry is None or by is None or made is None or not made.shape:
            return None
        boolean = reads[1].value in self._masks
        if not boolean and len(by.shape) != 1:
            return None
        axes = frozenset(range(len(by.shape)))
        if max(axes, default=0) >= len(reads[0].geometry.shape):
            return None
        rows = count(reads[0].geometry.shape, axes)
        return self._dropped(row, 0, axes, reads[1].value, 1 - made.shape[0] / rows) if rows else None

    def _root(self, mask: int) -> int:
        while mask >= 0:
            by = self._values[mask].made_by
            if by < 0 or names.plain(self._operators[by].name) not in _RESTATED or len(self._operators[by].reads) != 1:
                break
            before = self._operators[by].reads[0].value
            if before < 0:
                break
            mask = before
        return mask

    def _sources(self, value: int) -> Iterator[int]:
        left, done = [value], {value}
        rows = set[int]()
        while left:
            number = left.pop()
            by = self._values[number].made_by
            if by < 0:
                # written to without an operator: what was there before may be in it
                more = [each for each in self._before[self._values[number].storage] if each < number]
            elif by in rows:
                continue
            else:
                rows.add(by)
                yield by
                more = [each.value for each in self._operators[by].reads if each.value >= 0]
            for each in more:
                if each not in done:
                    done.add(each)
                    left.append(each)

    def _in_layers(self) -> set[int]:
        """Values that layers follow from, with parameters of their own, in forward passes: they are no losses."""
        found = set[int]()
        for operator in reversed(self._operators):
            if operator.backward:
                continue
            own = [each for each in operator.reads if each.value >= 0]
            if any(self._is_layer(each.value) for each in own) or any(each.value in found for each in operator.results):
                found |= {each.value for each in own}
        return found

    def _is_layer(self, value: int) -> bool:
        known = self._values[value]
        return known.kind is ValueKind.PARAMETER and known.elements > _LARGEST_SCALE


def _masked_axes(taken: Taken, mask: Taken) -> Axes | None:
    """Along which a mask differs, of the tensor that it is multiplied with."""
    if taken.geometry is None or mask.geometry is None or len(mask.geometry.shape) > len(taken.geometry.shape):
        return None
    missing = len(taken.geometry.shape) - len(mask.geometry.shape)
    found = set()
    for axis, (length, step) in enumerate(zip(mask.geometry.shape, mask.geometry.strides, strict=True)):
        if length < 2 or not step:
            continue
        if taken.geometry.shape[axis + missing] != length:
            return None
        found.add(axis + missing)
    return frozenset(found) or None
