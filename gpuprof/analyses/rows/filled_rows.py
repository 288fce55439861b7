"""Which part of the gradients of a backward pass may be other than zero, from what they are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.flow import forms_of
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.analyses.demand.need import Axis, Need, both, box, everything, in_view, size

# zero where their first argument is, at its place
_OF_FIRST = frozenset({"neg", "div", "clone", "_to_copy", "detach", "alias"})
_UNION = frozenset({"add", "sub"})
_PRODUCTS = frozenset({"mm", "bmm"})
# what becomes of the gradient of a weight
_ADDS_UP = frozenset({"add", "detach", "clone"})
# from there on rows are a good part of all
_PARTLY = 0.5


class FilledRows:
    """Walks the operators from the first to the last. A Need stands for what may be other than zero."""

    def __init__(self, operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> None:
        self._operators = operators
        self._forms = forms_of(operators, values)
        self._filled: dict[int, Need] = {}
        # by operator that reads such gradients: whether what it makes of them has zeros, too, or it adds up a few rows
        self._kept: dict[int, bool] = {}
        # what has no zeros any more
        self._full: set[int] = set()
        for row, operator in enumerate(operators):
            if operator.backward:
                self._note(row, operator)

    def stays(self, rows: Sequence[int]) -> float:
        """Of these operators, which share of those that work on such gradients, or on what follows from them, has zeros
        in what it makes, 0..1."""
        known = [self._kept[row] for row in rows if row in self._kept]
        return sum(known) / len(known) if known else 0.0

    def _note(self, row: int, operator: LookedOperator) -> None:
        made = [each for each in operator.results if each.geometry is not None and each.value >= 0]
        if len(made) != 1 or len(operator.results) != 1 or self._is_view(operator, made[0]):
            return
        given = [self._of(each) for each in operator.reads]
        partly = [each for each in given if each is not None and each.share <= _PARTLY]
        found = self._found(operator, given, made[0])
        full = any(each.value in self._full for each in operator.reads)
        keeps = found is not None and found.share <= _PARTLY
        if partly:
            self._kept[row] = keeps or self._takes_part(operator, given)
        elif full and names.plain(operator.name) not in _ADDS_UP:
            self._kept[row] = False
        if (partly or full) and not keeps:
            self._full.add(made[0].value)
        if found is not None and not found.whole and made[0].geometry == self._forms[made[0].value]:
            self._filled[made[0].value] = found

    def _is_view(self, operator: LookedOperator, made: Taken) -> bool:
        return any(each.value == made.value for each in operator.reads)

    def _of(self, taken: Taken) -> Need | None:
        """Of a tensor that is read; None where it is not known how it lies."""
        if taken.geometry is None or taken.value < 0:
            return None
        filled = self._filled.get(taken.value)
        if filled is None:
            return everything(taken.geometry.shape)
        return in_view(filled, taken.geometry, self._forms[taken.value])

    def _found(self, operator: LookedOperator, given: Sequence[Need | None], made: Taken) -> Need | None:
        assert made.geometry is not None
        name, shape = names.plain(operator.name), made.geometry.shape
        if name in ("select_backward", "slice_backward"):
            return _placed(operator, given, shape)
        if name in _OF_FIRST or (name.endswith(("_backward", "_backward_data")) and name in names.ELEMENTWISE):
            return given[0] if given and given[0] is not None and given[0].shape == shape else None
        if name == "mul":
            return _least([_spread(each, shape) for each in given])
        if name in _UNION and len(given) == 2:
            sides = [_spread(each, shape) for each in given]
            return both(sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None
        if name in _PRODUCTS and len(given) == 2 and given[0] is not None and given[1] is not None:
            first, second = given[0], given[1]
            batch = first.axes[:-2] if first.shape[:-2] == shape[:-2] else (None,) * (len(shape) - 2)
            return box(shape, (*batch, first.axes[-2], second.axes[-1]))
        return None

    def _takes_part(self, operator: LookedOperator, given: Sequence[Need | None]) -> bool:
        """Whether the rows that it adds up are mostly zeros: the gradient of a weight, or of a bias."""
        if names.plain(operator.name) == "sum" and operator.arguments is not None and given and given[0] is not None:
            over = operator.arguments[1] if len(operator.arguments) > 1 else None
            axes = over if isinstance(over, list) else range(len(given[0].shape))
            sizes = [(size(given[0].axes[axis], given[0].shape[axis]), given[0].shape[axis]) for axis in axes]
            return any(filled <= _PARTLY * whole for filled, whole in sizes)
        if names.plain(operator.name) not in _PRODUCTS or len(given) != 2 or given[0] is None or given[1] is None:
            return False
        inner = given[0].shape[-1]
        added = min(size(given[0].axes[-1], inner), size(given[1].axes[-2], inner))
        return added <= _PARTLY * inner


def _placed(operator: LookedOperator, given: Sequence[Need | None], shape: tuple[int, ...]) -> Need | None:
    """A gradient that is put into zeros, at one place of an axis or at some of them."""
    arguments, name = operator.arguments, names.plain(operator.name)
    if arguments is None or len(arguments) < 4 or type(arguments[2]) is not int or not given or given[0] is None:
        return None
    axis, before = arguments[2] % max(len(shape), 1), given[0]
    mask = np.zeros(shape[axis], bool)
    if name == "select_backward":
        mask[arguments[3]] = True
        return (
            box(shape, (*before.axes[:axis], mask, *before.axes[axis:]))
            if len(before.shape) + 1 == len(shape)
            else None
        )
    if len(arguments) < 6 or any(type(each) is not int for each in arguments[3:6]) or len(before.shape) != len(shape):
        return None
    places = np.arange(shape[axis])[arguments[3] : arguments[4] : arguments[5]]
    if len(places) != before.shape[axis]:
        return None
    own = before.axes[axis]
    mask[places if own is None else places[own]] = True
    return box(shape, (*before.axes[:axis], mask, *before.axes[axis + 1 :]))


def _spread(given: Need | None, shape: tuple[int, ...]) -> Need | None:
    """Broadcast to that shape."""
    if given is None or len(given.shape) > len(shape):
        return None
    missing = len(shape) - len(given.shape)
    axes: list[Axis] = [None] * missing
    for length, whole, axis in zip(given.shape, shape[missing:], given.axes, strict=True):
        axes.append(axis if length == whole else None)
    return box(shape, tuple(axes))


def _least(given: Sequence[Need | None]) -> Need | None:
    """Of factors, the one that leaves least: the product is zero where one of them is."""
    known = [each for each in given if each is not None]
    return min(known, key=lambda each: each.elements) if known else None
