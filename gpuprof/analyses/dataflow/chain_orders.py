"""In which order a chain of matrices is multiplied with the fewest operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

# the number of a factor, from 0, or two orders whose results are multiplied
Order: TypeAlias = "int | tuple[Order, Order]"
# A thin product takes as long as reading its matrices: about so many operations in the time of one element.
_OPERATIONS_PER_ELEMENT = 32
# A product takes time however small it is: about as much as so many operations.
_OPERATIONS_PER_CALL = 200_000
# A product with 2 to 15 columns takes as long as one of 64, and transposed, as in its backward pass, of 110 (measured
# of 1300×1300 on a CPU with one thread: 2.0 and 3.5 ms for 2 columns, 2.5 and 4.4 for 7, 0.9 and 1.2 for 16, 2.6 and
# 3.0 for 64, 14.6 and 14.3 for 400). Of one column it is a product with a vector, which is fast.
_THIN, _AS_COLUMNS = 16, 96


@dataclass(frozen=True)
class Factor:
    """A matrix of a chain, or what a part of the chain gives. `batch`: how many of them, 1 where all share one;
    `vector`: `columns` is 1 and the tensor has no such axis. `entries`: how many a sparse one stores, None of dense
    ones, and `entry_columns`: handling an entry takes as long as so many columns of the other matrix. `grad`: it needs
    a gradient."""

    rows: int
    columns: int
    batch: int = 1
    diagonal: bool = False
    vector: bool = False
    entries: int | None = None
    entry_columns: int = 0
    grad: bool = False

    @property
    def elements(self) -> int:
        """How many numbers it is made of."""
        return self.batch * self.rows * (1 if self.diagonal else self.columns)


@dataclass(frozen=True)
class Work:
    """What products take: floating-point operations, elements that they read and write, and how many they are. `thin`:
    so many operations could run in the time that is lost in products with few columns."""

    flops: int = 0
    elements: int = 0
    calls: int = 0
    thin: int = 0

    @property
    def effort(self) -> int:
        """All of it in one number, to compare times."""
        return self.flops + self.thin + _OPERATIONS_PER_ELEMENT * self.elements + _OPERATIONS_PER_CALL * self.calls

    def __add__(self, other: Work) -> Work:
        sums = (self.flops + other.flops, self.elements + other.elements, self.calls + other.calls)
        return Work(*sums, self.thin + other.thin)


def product(left: Factor, right: Factor) -> tuple[Factor, Work]:
    """What a product gives and takes; with a diagonal matrix it scales rows or columns, and of a sparse one only what
    it stores counts."""
    batch = max(left.batch, right.batch)
    diagonal = left.diagonal and right.diagonal
    made = Factor(left.rows, right.columns, batch, diagonal, right.vector, grad=left.grad or right.grad)
    if left.entries is not None or right.entries is not None:
        columns, entries = (right.columns, left.entries) if left.entries is not None else (left.rows, right.entries)
        return made, Work(2 * (entries or 0) * columns, made.elements, 1)
    dense = not left.diagonal and not right.diagonal
    flops = 2 * batch * left.rows * left.columns * right.columns if dense else made.elements
    narrow = min(left.rows, right.columns)
    thin = flops * (_AS_COLUMNS - narrow) // narrow if dense and 1 < narrow < _THIN else 0
    return made, Work(flops, left.elements + right.elements + made.elements, 1, thin)


def work_of(factors: Sequence[Factor], order: Order) -> tuple[Factor, Work]:
    """What the chain gives in that order, and what it takes."""
    if isinstance(order, int):
        return factors[order], Work()
    (left, before), (right, besides) = work_of(factors, order[0]), work_of(factors, order[1])
    made, work = product(left, right)
    return made, before + besides + work


def operations(left: Factor, right: Factor) -> float:
    """Of their product."""
    return product(left, right)[1].flops


def cheapest(factors: Sequence[Factor], cost: Callable[[Factor, Factor], float] = operations) -> Order:
    """The order with the fewest operations, or of the least cost, found by that of all parts of the chain; of equal
    ones what begins on the left."""
    best: dict[tuple[int, int], tuple[float, Order, Factor]] = {}
    for at, factor in enumerate(factors):
        best[at, at] = (0, at, factor)
    for length in range(1, len(factors)):
        for first in range(len(factors) - length):
            last = first + length
            best[first, last] = min(
                (_joined(best[first, split], best[split + 1, last], cost) for split in reversed(range(first, last))),
                key=lambda each: each[0],
            )
    return best[0, len(factors) - 1][1]


def mirrored(order: Order) -> Order:
    """Of the transposed chain, whose factors are numbered from its other end."""
    return _mirrored(order, _count(order) - 1)


def text_of(order: Order, factors: Sequence[Factor], names: Sequence[str]) -> str:
    """`A @ (B @ C)`; a diagonal matrix by the name of its vector, as in `u[:, None] * K`."""
    if isinstance(order, int):
        return names[order]
    left, right = (work_of(factors, part)[0] for part in order)
    one, other = (text_of(part, factors, names) for part in order)
    scales, rows = left.diagonal or right.diagonal, left.diagonal and not right.diagonal and not right.vector
    if not isinstance(order[0], int) and (rows or not scales or not _scales(order[0], factors)):
        one = f"({one})"
    if not isinstance(order[1], int):
        other = f"({other})"
    if rows:
        return f"{one}[{'...' if left.batch > 1 else ':'}, None] * {other}"
    if right.diagonal and not left.diagonal and right.batch > 1:
        return f"{one} * {other}[..., None, :]"
    return f"{one} {'*' if scales else '@'} {other}"


def _scales(order: tuple[Order, Order], factors: Sequence[Factor]) -> bool:
    return any(work_of(factors, part)[0].diagonal for part in order)


def _joined(
    left: tuple[float, Order, Factor], right: tuple[float, Order, Factor], cost: Callable[[Factor, Factor], float]
) -> tuple[float, Order, Factor]:
    made, _ = product(left[2], right[2])
    return left[0] + right[0] + cost(left[2], right[2]), (left[1], right[1]), made


def _mirrored(order: Order, last: int) -> Order:
    return last - order if isinstance(order, int) else (_mirrored(order[1], last), _mirrored(order[0], last))


def _count(order: Order) -> int:
    return 1 if isinstance(order, int) else _count(order[0]) + _count(order[1])
