"""Arithmetic on sets of time intervals, in numpy.

An interval set is a pair of int64 arrays `(starts, ends)` of equal shape `(n,)`. A *union* is a set that is sorted,
disjoint and without empty members; functions that need one say so. Half-open: [start, end).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuprof.model.table import Array, Table

_EMPTY = np.empty(0, np.int64)


class Intervals(NamedTuple):
    """Starts and ends, int64 ns, both of shape `(n,)`."""

    starts: Array
    ends: Array

    @property
    def total_ns(self) -> int:
        """Sum of lengths (of a union: the time covered)."""
        return int((self.ends - self.starts).sum())


EMPTY = Intervals(_EMPTY, _EMPTY)


def of(table: Table) -> Intervals:
    """The intervals of a table with `start_ns` and `duration_ns`."""
    return Intervals(table["start_ns"], table["start_ns"] + table["duration_ns"])


def single(start_ns: int, end_ns: int) -> Intervals:
    """One interval, or none where it is empty."""
    return EMPTY if end_ns <= start_ns else Intervals(np.array([start_ns], np.int64), np.array([end_ns], np.int64))


def union(intervals: Intervals) -> Intervals:
    """Merge any intervals into a union; touching ones become one, empty ones vanish."""
    keep = intervals.ends > intervals.starts
    starts, ends = intervals.starts[keep], intervals.ends[keep]
    if not len(starts):
        return EMPTY
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], starts[1:] > ends[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Intervals(starts[first], ends[last])


def joined(*several: Intervals) -> Intervals:
    """The union of all of them; EMPTY of none."""
    if not several:
        return EMPTY
    return union(Intervals(*(np.concatenate(sides) for sides in zip(*several, strict=True))))


def complement(merged: Intervals, start_ns: int, end_ns: int) -> Intervals:
    """The gaps of a union inside [start_ns, end_ns)."""
    inside = clip(merged, start_ns, end_ns)
    starts = np.concatenate(([start_ns], inside.ends))
    ends = np.concatenate((inside.starts, [end_ns]))
    keep = ends > starts
    return Intervals(starts[keep].astype(np.int64), ends[keep].astype(np.int64))


def clip(intervals: Intervals, start_ns: int, end_ns: int) -> Intervals:
    """The parts inside [start_ns, end_ns)."""
    starts, ends = np.maximum(intervals.starts, start_ns), np.minimum(intervals.ends, end_ns)
    keep = ends > starts
    return Intervals(starts[keep], ends[keep])


def intersect(left: Intervals, right: Intervals) -> Intervals:
    """The common part of two unions, a union."""
    if not len(left.starts) or not len(right.starts):
        return EMPTY
    begin = np.searchsorted(right.ends, left.starts, side="right")
    stop = np.searchsorted(right.starts, left.ends, side="left")
    counts = np.maximum(stop - begin, 0)
    rows = np.repeat(np.arange(len(left.starts)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    partner = np.repeat(begin, counts) + offsets
    starts = np.maximum(left.starts[rows], right.starts[partner])
    ends = np.minimum(left.ends[rows], right.ends[partner])
    keep = ends > starts
    return Intervals(starts[keep], ends[keep])


def subtract(left: Intervals, right: Intervals) -> Intervals:
    """What is in the union `left` and not in the union `right`, a union."""
    if not len(left.starts):
        return EMPTY
    low, high = int(left.starts[0]), int(left.ends[-1])
    return intersect(left, complement(right, low, high))


def covered(merged: Intervals, starts: Array, ends: Array) -> Array:
    """For each [starts, ends) the ns of it that the union covers; int64 of shape `(len(starts),)`."""
    if not len(merged.starts) or not len(starts):
        return np.zeros(len(starts), np.int64)
    return covered_until(merged, ends) - covered_until(merged, starts)


def covered_until(merged: Intervals, times: Array) -> Array:
    """The ns that the union covers before each instant; int64 of `times`' shape."""
    if not len(merged.starts):
        return np.zeros(len(times), np.int64)
    lengths = merged.ends - merged.starts
    before = np.concatenate(([0], np.cumsum(lengths)))
    index = np.searchsorted(merged.starts, times, side="right")
    last = np.maximum(index - 1, 0)
    partial = np.minimum(times - merged.starts[last], lengths[last])
    until: Array = np.where(index > 0, before[last] + partial, 0).astype(np.int64, copy=False)
    return until


def contains(merged: Intervals, times: Array) -> Array:
    """Boolean mask of shape `(len(times),)`: which instants lie inside the union."""
    if not len(merged.starts):
        return np.zeros(len(times), bool)
    index = np.searchsorted(merged.starts, times, side="right") - 1
    hit: Array = (index >= 0) & (times < merged.ends[np.maximum(index, 0)])
    return hit


def partition(whole: Intervals, claims: list[tuple[str, Intervals]]) -> dict[str, Intervals]:
    """Give every ns of the union `whole` to the first claim that covers it; what is left is under `""`.

    The parts are disjoint unions and add up to `whole` exactly.
    """
    parts: dict[str, Intervals] = {}
    rest = whole
    for label, claim in claims:
        merged = union(claim)
        parts[label] = intersect(rest, merged)
        rest = subtract(rest, merged)
    parts[""] = rest
    return parts
