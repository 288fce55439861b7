"""What the close look says of itself: which iterations it saw, how much of them, and what it cost."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class LookedPlace(NamedTuple):
    """A line of the user's code in the tables of the close look. `file` is as Python names it: of a cell the name that
    its code was compiled under."""

    file: str
    line: int
    function: str


class LookPart(msgspec.Struct, frozen=True, kw_only=True):
    """One of several looks at a cell: `iterations` whole ones, numbered from `first_iteration` on."""

    iterations: int = 0
    first_iteration: int = 0
    ended_by: str = "cell"

    @property
    def told(self) -> bool:
        """Whether steps told where iterations begin; else they are found in the operators, and begin where one of these
        does."""
        return self.ended_by == "iterations"


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The close look from `start_ns` to `end_ns` (Unix times); the tables of `look_schema` have what was seen.

    It sees operators of `iterations` whole iterations with their tensors, on the cell's own thread and those that run
    its backward passes; where a cell has no steps, iterations are found in the operators themselves. Times
    in there are weights among each other, never the cell's: `cost_ns` is what looking added, in processor time.
    `operators_share`: which part of the operators of these iterations was seen, 0..1, and None where that is not
    known. `ended_by` is `iterations`, `operators`, `seconds`, `cell` (it ended first), or `error` (a fault of ours).
    `fingerprinted_share`: of the bytes of values that need a fingerprint, those that have one: it is needed of what was
    there before, what is random or made by operators that are not torch's own, and what is written without an operator;
    what another operator makes follows from what it reads. `places` are the lines, `paths` the chains of them by which
    operators were reached: rows of `places`, from the innermost line to the cell's own.
    `unseen_writes` counts values that came about, or changed, without an operator: by code in C++ or Triton, a compiled
    region, the replay of a graph. Where there are some, such code may also have read what seems unread.
    `parts`: the looks that it consists of, where it is of several; the column `look` tells their operators apart.
    `subnormal_slowdown`: how many times as long the cell's thread took to multiply subnormal numbers as normal ones;
    None where operators read none.
    `skipped` says in a few words why nothing was looked at; None where something was.
    `names`: in a Recording, what the columns that index names mean; empty in a Trace, which has them among its own.
    """

    iterations: int = 0
    start_ns: int = 0
    end_ns: int = 0
    operators_share: float | None = None
    ended_by: str = "cell"
    cost_ns: int = 0
    fingerprinted_share: float = 0.0
    places: tuple[LookedPlace, ...] = ()
    paths: tuple[tuple[int, ...], ...] = ()
    unseen_writes: int = 0
    subnormal_slowdown: float | None = None
    skipped: str | None = None
    names: tuple[str, ...] = ()
    parts: tuple[LookPart, ...] = ()

    @property
    def each(self) -> tuple[LookPart, ...]:
        """The looks that it consists of: one at least."""
        return self.parts or (LookPart(iterations=self.iterations, ended_by=self.ended_by),)
