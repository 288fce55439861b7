"""Follows rows that were taken of a tensor through the operators that compute each row for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.analyses.rows.row_axes import Along
from gpuprof.analyses.rows.row_digits import RowDigit
from gpuprof.analyses.rows.sample_axes import each_sample, evaluates
from gpuprof.model.kinds import ValueKind

# a tensor with fewer rows is no set of samples
_LEAST_ROWS = 8
_UNIFORM = frozenset(
    ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
)
_STATE = (ValueKind.PARAMETER, ValueKind.GRADIENT, ValueKind.OPTIMIZER_STATE)


@dataclass
class SameWork:
    """One calculation for each of a tensor's rows. `source`: the tensor, of `rows`; `gathers`: by operator that took
    rows, how many; `members`: the operators; `kind`: a hash of what they do, whatever the weights. `sliced`: rows were
    taken one after the other; `stays`: the tensor was there before the look, and at its end."""

    source: object
    rows: int
    sliced: bool
    stays: bool
    kind: object
    gathers: dict[int, int] = field(default_factory=dict)
    members: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Origin:
    """A value whose rows each follow from the row that operator `gather` took of the tensor `source`, by the operators
    and constants of which `signature` is a hash; `operators` is one of the operators alone."""

    source: tuple[object, ...]
    gather: int
    digit: RowDigit
    signature: int
    operators: int


class FollowedRows:
    """`random`, `scalars` and `iteration` are columns of looked_operators."""

    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        random: Sequence[bool],
        scalars: Sequence[int],
        iteration: Sequence[int],
    ):
        self._operators, self._values, self._scalars, self._iteration = operators, values, scalars, iteration
        # by value made in the look: of the operators and values that it follows from; None: not a constant
        self._constant: dict[int, int | None] = {}
        self._origin: dict[int, _Origin] = {}
        self._slices: dict[tuple[int, int, int, int], _Origin] = {}
        self._taken: dict[int, int] = {}
        self._works: dict[tuple[object, ...], SameWork] = {}
        for row, operator in enumerate(operators):
            if not self._follow(row, operator, random=random[row]):
                self._derive(row, operator, random=random[row])

    def works(self) -> Iterator[SameWork]:
        """All of them."""
        yield from self._works.values()

    def has_others(self, work: SameWork) -> bool:
        """Whether the same was computed with other weights, too: they are changed now and then."""
        alike = [each for each in self._works.values() if (each.source, each.kind) == (work.source, work.kind)]
        return len(alike) > 1

    def _of_constant(self, value: int) -> int | None:
        """A hash of what it follows from; None where random numbers, rows, or unknown memory have a part in it."""
        if value < 0:
            return None
        return self._constant.get(value, hash(("there", value)))

    def _derive(self, row: int, operator: LookedOperator, *, random: bool) -> None:
        made = [each for each in operator.results if each.value >= 0 and self._values[each.value].made_by == row]
        if not made:
            return
        if random:
            self._constant |= dict.fromkeys((each.value for each in made), None)
        elif operator.writes or operator.backward:
            return  # a value of its own
        else:
            known = [(self._of_constant(each.value), each.geometry) for each in operator.reads]
            rows = any(each.value in self._origin for each in operator.reads)
            same = None if rows or any(each is None for each, _ in known) else tuple(known)
            for position, each in enumerate(made):
                own = None if same is None else hash((operator.name, self._scalars[row], position, each.geometry, same))
                self._constant[each.value] = own

    def _follow(self, row: int, operator: LookedOperator, *, random: bool) -> bool:
        """Whether its results have rows of a tensor."""
        made = operator.results[0] if operator.results else None
        if random or operator.backward or made is None or made.value < 0 or made.geometry is None:
            return False
        if self._values[made.value].made_by != row:
            return False
        if is_gather(operator):
            return self._take(row, operator, made)
        if names.acts(operator.name) and not evaluates(operator):
            return False
        found = self._carried(row, operator, made)
        if found is None or (operator.writes and not self._stays(operator, found)):
            return False
        for position, each in enumerate(operator.results):
            if each.value >= 0 and each.geometry is not None and self._values[each.value].made_by == row:
                digit = found.digit if each is made else _same_axis(found, made, each)
                if digit is not None:
                    own = hash((found.signature, position)), hash((found.operators, position))
                    self._origin[each.value] = _Origin(found.source, found.gather, digit, *own)
        self._note(row, found)
        return True

    def _note(self, row: int, found: _Origin) -> None:
        work = self._works.get((found.source, found.signature))
        if work is None:
            value, rows = found.source[0], found.source[1]
            assert isinstance(value, int) and isinstance(rows, int)
            known = self._values[value]
            stays = known.made_by < 0 and known.kept
            sliced = not is_gather(self._operators[found.gather])
            work = SameWork(found.source, rows, sliced, stays, found.operators)
            self._works[found.source, found.signature] = work
        work.gathers[found.gather] = self._taken[found.gather]
        work.members.append(row)

    def _take(self, row: int, operator: LookedOperator, made: Taken) -> bool:
        source = operator.reads[0]
        known = self._values[source.value] if source.value >= 0 else None
        if known is None or known.kind in _STATE or source.geometry is None or made.geometry is None:
            return False
        rows, digit = source.geometry.shape[0], RowDigit.of_axis(made.geometry, 0)
        if rows < _LEAST_ROWS or digit is None or source.value in self._origin:
            return False
        if self._of_constant(source.value) is None:
            return False
        self._taken[row] = made.geometry.shape[0]
        key = (source.value, rows, source.geometry)
        self._origin[made.value] = _Origin(key, row, digit, hash(key), 0)
        return True

    def _carried(self, row: int, operator: LookedOperator, made: Taken) -> _Origin | None:
        """The rows of the result, where each follows from one row alone, and from what does not change."""
        gathered = [self._origin.get(each.value) for each in operator.reads]
        if not any(gathered):
            gathered = [self._sliced(row, each) for each in operator.reads]
        if not any(gathered):
            return None
        mapping = each_sample(operator)
        if mapping is None or made.geometry is None:
            return None
        found, given, before = None, list[object](), list[object]()
        for taken, axes, origin in zip(operator.reads, mapping, gathered, strict=True):
            if origin is None:
                own = self._of_constant(taken.value)
                if own is None:
                    return None
                given.append((own, taken.geometry))
                before.append(taken.geometry)
                continue
            digit = _moved(origin.digit, taken, axes, made)
            if digit is None:
                return None
            if found is not None and (found.source, found.gather, found.digit) != (origin.source, origin.gather, digit):
                return None
            found = _Origin(origin.source, origin.gather, digit, 0, 0)
            given.append((origin.signature, _beside_rows(taken, origin)))
            before.append((origin.operators, _beside_rows(taken, origin)))
        if found is None:
            return None
        rows = found.digit.axis_of(made.geometry)
        for taken, axes, origin in zip(operator.reads, mapping, gathered, strict=True):
            # a constant that is another one for each place: the same row elsewhere gives something else
            if origin is None and rows in axes and not self._is_like_in_rows(taken, found.digit):
                return None
        done = operator.name, self._scalars[row]
        return _Origin(found.source, found.gather, found.digit, hash((*done, *given)), hash((*done, *before)))

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
        if known is None or view is None or len(view.shape) < 2 or known.kind in _STATE or not view.strides[0]:
            return None
        whole = known.elements // view.strides[0]
        if view != Geometry(view.shape, contiguous(view.shape).strides, view.offset) or view.offset % view.strides[0]:
            return None
        if not 1 < view.shape[0] < whole or whole < _LEAST_ROWS or self._of_constant(taken.value) is None:
            return None
        digit, key = RowDigit.of_axis(view, 0), (taken.value, view.offset, view.shape[0], self._iteration[row])
        if digit is None:
            return None
        if key not in self._slices:
            self._taken[row] = view.shape[0]
            source = (taken.value, whole, view.shape[1:])
            self._slices[key] = _Origin(source, row, digit, hash(source), 0)
        return self._slices[key]

    def _stays(self, operator: LookedOperator, found: _Origin) -> bool:
        """Whether what it writes to, or to a part of it, held the same rows before."""
        first = operator.reads[0]
        before = self._origin.get(first.value)
        if before is None:
            return self._of_constant(first.value) is not None and self._is_like_in_rows(first, found.digit)
        return (before.gather, before.digit) == (found.gather, found.digit)


def _beside_rows(taken: Taken, origin: _Origin) -> object:
    """What of a tensor is read, whatever the number of its rows, and where in a slice they begin."""
    view, digit = taken.geometry, origin.digit
    assert view is not None
    axis = digit.axis_of(view)
    shape = tuple(size // digit.count if at == axis else size for at, size in enumerate(view.shape))
    first = taken.value == origin.source[0]
    return shape, view.strides, view.offset % digit.low, 0 if first else view.offset // digit.high


def _same_axis(found: _Origin, made: Taken, other: Taken) -> RowDigit | None:
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


def is_gather(operator: LookedOperator) -> bool:
    """`x[numbers]` and `x.index_select(0, numbers)`: rows along the first axis."""
    name, reads, given = names.plain(operator.name), operator.reads, operator.arguments
    if operator.backward or len(reads) != 2 or given is None or reads[0].geometry is None or reads[1].geometry is None:
        return False
    if not reads[0].geometry.shape or len(reads[1].geometry.shape) != 1 or not operator.results:
        return False
    if name == "index":
        return len(given) > 1 and given[1] == [None]
    return name == "index_select" and len(given) > 1 and given[1] == 0
