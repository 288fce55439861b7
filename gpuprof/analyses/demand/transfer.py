"""What an operator needs of its arguments where only part of its results is needed.

Each answer is a bound from above: where a kind of operator is not known, or its shapes are not what that kind would
have, everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from gpuprof.analyses.demand import algorithm_costs
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.need import Axis, Need, both, box, everything, nothing, size

Shape = tuple[int, ...]
_MATRIX = 2


@dataclass(frozen=True)
class Applied:
    """One operator as it ran: the shapes of its tensor arguments in order, its arguments that are no tensors (None:
    not known), and what is needed of each result."""

    name: str
    reads: tuple[Shape, ...]
    arguments: Sequence[Any] | None
    results: tuple[Need, ...]

    @property
    def needed(self) -> bool:
        """Whether any element of a result is."""
        return any(need.elements for need in self.results)


def needs_of(applied: Applied) -> tuple[Need, ...]:
    """What is needed of each tensor argument, in order."""
    if not applied.needed:
        return tuple(nothing(shape) for shape in applied.reads)
    if names.makes(applied.name):
        return tuple(nothing(shape) for shape in applied.reads)
    how = _kind(names.plain(applied.name))
    if how is None:
        return tuple(everything(shape) for shape in applied.reads)
    return tuple(how(applied, position) or everything(shape) for position, shape in enumerate(applied.reads))


@cache
def _kind(name: str) -> Callable[[Applied, int], Need | None] | None:
    for known, how in _KINDS:
        if name in known:
            return how
    return None


def _elementwise(applied: Applied, position: int) -> Need | None:
    found = nothing(applied.reads[position])
    for need in applied.results:
        more = _broadcast(applied.reads[position], need)
        if more is None:
            return None
        found = both(found, more)
    return found


def _broadcast(shape: Shape, need: Need) -> Need | None:
    """Of an argument of that shape, which takes part in each element at its place."""
    if not need.elements:
        return nothing(shape)
    missing = len(need.shape) - len(shape)
    if missing < 0:
        return None
    axes = list[Axis]()
    for length, whole, axis in zip(shape, need.shape[missing:], need.axes[missing:], strict=True):
        if length not in (1, whole):
            return None
        axes.append(axis if length == whole else None)
    return box(shape, tuple(axes)).at_most(need.elements)


def _along_axes(applied: Applied, position: int) -> Need | None:
    """Axes that are gone from the result, or mixed, are needed whole; the others as in the result."""
    if position and not names.plain(applied.name).endswith("_backward_data"):
        return None
    shape, mixed = applied.reads[position], _axes(applied, len(applied.reads[position]))
    if mixed is None:
        return None
    found = nothing(shape)
    for need in applied.results:
        if not need.elements:
            continue
        more = _spread(shape, mixed, need)
        if more is None:
            return None
        found = both(found, more)
    return found


def _spread(shape: Shape, mixed: frozenset[int], need: Need) -> Need | None:
    others = [axis for axis in range(len(shape)) if axis not in mixed]
    kept = len(need.shape) == len(shape)
    if not kept and len(need.shape) != len(others):
        return None
    axes: list[Axis] = [None] * len(shape)
    for number, axis in enumerate(others):
        at = axis if kept else number
        if need.shape[at] != shape[axis]:
            return None
        axes[axis] = need.axes[at]
    return box(shape, tuple(axes)).at_most(need.elements * prod(shape[axis] for axis in mixed))


def _axes(applied: Applied, dimensions: int) -> frozenset[int] | None:
    """The axes that its arguments name; None where they are not known."""
    at = names.AXES_AT.get(names.plain(applied.name), 1)
    arguments = applied.arguments
    given: Any = arguments[at] if arguments is not None and len(arguments) > at else None
    numbers: list[Any] = given if isinstance(given, list) else [given]
    if not numbers or any(type(number) is not int for number in numbers):
        return None
    return frozenset(int(number) % dimensions for number in numbers) if dimensions else None


def _over_last_axes(applied: Applied, position: int) -> Need | None:
    arguments = applied.arguments
    over = arguments[1] if arguments is not None and len(arguments) > 1 else None
    shape = applied.reads[position]
    if position or not isinstance(over, list) or not over or len(over) > len(shape):
        return None
    rows = len(shape) - len(over)
    found = nothing(shape)
    for need in applied.results:
        if not need.elements:
            continue
        if need.shape[:rows] != shape[:rows]:
            return None
        more = box(shape, (*need.axes[:rows], *[None] * len(over))).at_most(need.elements * prod(shape[rows:]))
        found = both(found, more)
    return found


def _product(applied: Applied, position: int) -> Need | None:
    first = names.PRODUCTS[names.plain(applied.name)]
    need = applied.results[0]
    if position < first:
        return _broadcast(applied.reads[position], need)
    return _factor(applied.reads[position], need, -2 if position == first else -1, position == first)


def _pair(applied: Applied, position: int) -> Need | None:
    return None if position > 1 else _factor(applied.reads[position], applied.results[0], position - 2, True)


def _linear(applied: Applied, position: int) -> Need | None:
    need, shape = applied.results[0], applied.reads[position]
    if position == 0 and shape[:-1] == need.shape[:-1]:
        return box(shape, (*need.axes[:-1], None)).at_most(need.elements * shape[-1])
    if position == 1 and len(shape) == 2 and shape[0] == need.shape[-1]:
        return box(shape, (need.axes[-1], None)).at_most(need.elements * shape[1])
    return None


def _factor(shape: Shape, need: Need, of_result: int, rows: bool) -> Need | None:
    """A factor whose rows (else columns) are the axis `of_result` (-2 or -1) of the product; batches broadcast."""
    if min(len(shape), len(need.shape)) < 2 or len(shape) > len(need.shape):
        return None
    own, other = (-2, -1) if rows else (-1, -2)
    if shape[own] != need.shape[of_result]:
        return None
    axes: list[Axis] = [None] * len(shape)
    for axis in range(-len(shape), -2):
        if shape[axis] not in (1, need.shape[axis]):
            return None
        axes[axis] = need.axes[axis] if shape[axis] == need.shape[axis] else None
    axes[own] = need.axes[of_result]
    return box(shape, tuple(axes)).at_most(need.elements * shape[other])


def _batched(applied: Applied, position: int) -> Need | None:
    need, shape = applied.results[0], applied.reads[position]
    same = len(shape) == len(need.shape) and shape[:1] == need.shape[:1]
    return None if position or not same or len(shape) < 3 else box(shape, (need.axes[0], *[None] * (len(shape) - 1)))


def _batched_channels(applied: Applied, position: int) -> Need | None:
    shape = applied.reads[position]
    if position or len(shape) != 4:
        return None
    found = nothing(shape)
    for need in applied.results:
        if need.elements:
            if need.shape[:2] != shape[:2]:
                return None
            found = both(found, box(shape, (*need.axes[:2], None, None)))
    return found


def _attention(applied: Applied, position: int) -> Need | None:
    need, shape = applied.results[0], applied.reads[position]
    others = any(more.elements for more in applied.results[1:])
    if position > 2 or others or len(shape) != 4 or len(need.shape) != 4 or shape[:2] != need.shape[:2]:
        return None
    return box(shape, (*need.axes[:2], need.axes[2] if position == 0 else None, None))


def _takes(applied: Applied, position: int) -> Need | None:
    whole = everything(applied.reads[position])
    return None if position else whole.at_most(applied.results[0].elements)


def _trace(applied: Applied, position: int) -> Need | None:
    shape = applied.reads[position]
    return everything(shape).at_most(min(shape)) if len(shape) == _MATRIX else None


def _cat(applied: Applied, position: int) -> Need | None:
    need, shape = applied.results[0], applied.reads[position]
    axes = applied.arguments[1] if applied.arguments is not None and len(applied.arguments) > 1 else None
    if type(axes) is not int or len(shape) != len(need.shape):
        return None
    along = axes % len(shape)
    if any(len(other) != len(shape) for other in applied.reads):
        return None
    start = sum(other[along] for other in applied.reads[:position])
    mask = need.axes[along]
    part = None if mask is None else mask[start : start + shape[along]]
    if part is not None and not part.any():
        return nothing(shape)
    return box(shape, (*need.axes[:along], part, *need.axes[along + 1 :])).at_most(need.elements)


def _stack(applied: Applied, position: int) -> Need | None:
    need, shape = applied.results[0], applied.reads[position]
    axis = applied.arguments[1] if applied.arguments is not None and len(applied.arguments) > 1 else None
    if type(axis) is not int or len(need.shape) != len(shape) + 1:
        return None
    along = axis % len(need.shape)
    mask = need.axes[along]
    if mask is not None and not mask[position]:
        return nothing(shape)
    return box(shape, (*need.axes[:along], *need.axes[along + 1 :])).at_most(need.elements)


def _one_line(applied: Applied, position: int) -> Need | None:
    """A matrix times a vector."""
    need, shape = applied.results[0], applied.reads[position]
    if position or len(shape) != 2 or need.shape != shape[:1]:
        return None
    return box(shape, (need.axes[0], None)).at_most(size(need.axes[0], need.shape[0]) * shape[1])


_Kinds = Sequence[tuple[frozenset[str], Callable[[Applied, int], Need | None]]]
_KINDS: _Kinds = (
    (names.ELEMENTWISE, _elementwise),
    (names.ALONG_AXES, _along_axes),
    (names.OVER_LAST_AXES, _over_last_axes),
    (frozenset(names.PRODUCTS), _product),
    (names.PAIRS, _pair),
    (names.BATCHED, _batched),
    (names.BATCHED_CHANNELS, _batched_channels),
    (names.ATTENTION, _attention),
    (names.TAKES, _takes),
    (frozenset({"trace"}), _trace),
    (frozenset({"linear"}), _linear),
    (frozenset({"cat"}), _cat),
    (frozenset({"stack"}), _stack),
    (frozenset({"mv"}), _one_line),
)


def worked_share(name: str, need: Need) -> float:
    """Which share of the work for a result is needed where that is needed of it; `name` is the plain one.

    All of it, unless it is known that elements, or samples, are computed one by one.
    """
    if not need.elements or need.whole:
        return need.share
    if _kind(name) is None:
        return 1.0
    if name in names.BATCHED or name in names.BATCHED_CHANNELS:
        return _axis_share(need, 0)
    if name in names.ATTENTION:
        return _axis_share(need, 2) if len(need.shape) == 4 else 1.0
    return need.share


def decomposed_share(arguments: Sequence[Any] | None, needs: tuple[Need, ...]) -> float:
    """Of an SVD with full matrices: what it takes without the columns and rows that the smaller side does not have,
    where nothing needs those; else all of it."""
    if arguments is None or len(arguments) < 2 or arguments[1] is not True or len(needs) != 3:
        return 1.0 if any(need.elements for need in needs) else 0.0
    columns_of, values, rows_of = needs
    if not any(need.elements for need in needs):
        return 0.0
    rows, columns, kept = columns_of.shape[-1], rows_of.shape[-1], values.shape[-1]
    needed = (columns_of, columns_of.axes[-1]), (rows_of, rows_of.axes[-2])
    if any(need.elements and need.shape[-1] > kept and (axis is None or axis[kept:].any()) for need, axis in needed):
        return 1.0
    return 1 / algorithm_costs.singular_values(1, rows, columns)


def _axis_share(need: Need, axis: int) -> float:
    return size(need.axes[axis], need.shape[axis]) / need.shape[axis]
