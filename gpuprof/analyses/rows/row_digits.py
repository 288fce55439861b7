"""Where the rows of a batch lie in a storage, in whatever view: also where a view has rows and other axes as one."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.demand.geometry import Geometry


@dataclass(frozen=True)
class RowDigit:
    """The element at place p of a storage belongs to row (p ÷ `low`) modulo (`high` ÷ `low`)."""

    low: int
    high: int

    @classmethod
    def of_axis(cls, view: Geometry, axis: int) -> RowDigit | None:
        """Where that axis of a view numbers the rows; None where elements share a place, or other axes lie across."""
        step, length = view.strides[axis], view.shape[axis]
        found = cls(step, step * length)
        return found if length > 1 and step > 0 and found.axis_of(view) == axis else None

    @property
    def count(self) -> int:
        """How many rows."""
        return self.high // self.low

    def axis_of(self, view: Geometry) -> int | None:
        """The one axis of a view that holds the rows, alone or with others inside or outside of them; else None."""
        found = None
        for axis, (length, step) in enumerate(zip(view.shape, view.strides, strict=True)):
            end = step * length
            if length < 2 or end <= self.low or step >= self.high:
                continue
            if not step or step > self.low or self.low % step or end < self.high or found is not None:
                return None
            found = axis
        return found

    def moved(self, read: Geometry, axis: int, made: Geometry, to: int) -> RowDigit | None:
        """The same rows in a result whose axis `to` is the axis of what was read."""
        before, after = read.strides[axis], made.strides[to]
        if not before or not after or read.shape[axis] != made.shape[to]:
            return None
        found = RowDigit(self.low // before * after, self.high // before * after)
        return found if found.axis_of(made) == to else None
