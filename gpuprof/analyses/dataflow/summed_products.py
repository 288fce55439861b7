"""Products of all pairs that are written out and then summed: `(A * b[None, :]).sum(1)` is `A @ b`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from gpuprof.analyses.demand.geometry import Geometry
from gpuprof.analyses.demand.looked import LookedOperator

# how many times as long as a matrix product, at least: 14 to 75 were measured where both sides have lines of their own
# (fewer for few lines), 2.2 to 12 of a matrix and a vector, 2.7 of a batch of them unless the last axis is summed
_OF_LINES, _OF_VECTOR, _OF_VECTORS = 10.0, 2.5, 2.2
_FEWEST_LINES, _SHORTEST = 8, 64


@dataclass(frozen=True)
class SummedProduct:
    """`factor` times as long as the matrix product takes that makes the same; `length` products go into each sum."""

    factor: float
    length: int


def summed_product(product: LookedOperator, total: LookedOperator) -> SummedProduct | None:
    """Of a product of two tensors, and the sum of it; None where no matrix product makes that, or not much sooner."""
    made = product.results[0].geometry if len(product.results) == 1 else None
    given = [each.geometry for each in product.reads]
    axis = _axis(total, made)
    if made is None or axis is None or len(given) != 2 or given[0] is None or given[1] is None:
        return None
    first, second = (_own_axes(each, made) for each in given if each is not None)
    if axis not in first & second:
        return None
    lines = [prod(made.shape[each] for each in own) for own in (first - second, second - first)]
    batched, length = bool((first & second) - {axis}), made.shape[axis]
    if min(lines) >= _FEWEST_LINES:
        return SummedProduct(_OF_LINES, length)
    if max(lines) < _FEWEST_LINES or length < _SHORTEST:
        return None
    if not batched:
        return SummedProduct(_OF_VECTOR, length)
    return SummedProduct(_OF_VECTORS, length) if axis != len(made.shape) - 1 else None


def _axis(total: LookedOperator, made: Geometry | None) -> int | None:
    """The one axis that is summed."""
    over = total.arguments[1] if total.arguments is not None and len(total.arguments) > 1 else None
    if made is None or not isinstance(over, list) or len(over) != 1 or type(over[0]) is not int:
        return None
    return int(over[0]) % len(made.shape) if made.shape else None


def _own_axes(given: Geometry, made: Geometry) -> set[int]:
    """The axes of the product along which that side differs: the others it is broadcast along."""
    missing = len(made.shape) - len(given.shape)
    pairs = enumerate(zip(given.shape, given.strides, strict=True))
    return {missing + at for at, (size, stride) in pairs if size > 1 and stride}
