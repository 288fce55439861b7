"""Arithmetic on intervals against sets of small integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.schema import OPERATORS
from gpuprof.model.table import Table

Pairs = list[tuple[int, int]]
POINT = st.integers(-8, 24)
PAIRS = st.lists(st.tuples(POINT, POINT), max_size=8)


def _set(pairs: Pairs) -> Intervals:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return Intervals(ends[:, 0], ends[:, 1])


def _points(found: Intervals) -> set[int]:
    return {point for start, end in zip(*map(list, found), strict=True) for point in range(int(start), int(end))}


def _assert_union(found: Intervals) -> None:
    assert found.starts.dtype == found.ends.dtype == np.int64
    assert (found.ends > found.starts).all()
    assert (found.starts[1:] > found.ends[:-1]).all()


@given(PAIRS)
def test_union(pairs: Pairs) -> None:
    merged = intervals.union(_set(pairs))
    _assert_union(merged)
    assert _points(merged) == _points(_set(pairs))
    assert merged.total_ns == len(_points(merged))


@given(st.lists(PAIRS, max_size=4))
def test_joined_is_the_union_of_all(several: list[Pairs]) -> None:
    found = intervals.joined(*map(_set, several))
    _assert_union(found)
    assert _points(found) == set().union(*(_points(_set(pairs)) for pairs in several))


@given(PAIRS, PAIRS)
def test_intersect_and_subtract(left: Pairs, right: Pairs) -> None:
    one, other = intervals.union(_set(left)), intervals.union(_set(right))
    both, rest = intervals.intersect(one, other), intervals.subtract(one, other)
    _assert_union(both)
    _assert_union(rest)
    assert _points(both) == _points(one) & _points(other)
    assert _points(rest) == _points(one) - _points(other)


@given(PAIRS, POINT, POINT)
def test_clip_and_complement(pairs: Pairs, start: int, end: int) -> None:
    merged = intervals.union(_set(pairs))
    inside = set(range(start, end))
    assert _points(intervals.clip(merged, start, end)) == _points(merged) & inside
    gaps = intervals.complement(merged, start, end)
    _assert_union(gaps)
    assert _points(gaps) == inside - _points(merged)


@given(PAIRS, st.lists(st.tuples(POINT, st.integers(0, 12)), max_size=6))
def test_covered_and_contains(pairs: Pairs, asked: Pairs) -> None:
    merged = intervals.union(_set(pairs))
    points = _points(merged)
    starts, lengths = (np.array([pair[i] for pair in asked], np.int64) for i in range(2))
    expected = [len(points & set(range(start, start + length))) for start, length in asked]
    assert intervals.covered(merged, starts, starts + lengths).tolist() == expected
    assert intervals.contains(merged, starts).tolist() == [start in points for start, _ in asked]


@given(PAIRS, st.lists(PAIRS, max_size=4))
def test_a_partition_gives_every_ns_to_the_first_claim(whole: Pairs, claims: list[Pairs]) -> None:
    merged = intervals.union(_set(whole))
    parts = intervals.partition(merged, [(f"claim {i}", _set(claim)) for i, claim in enumerate(claims)])
    rest = _points(merged)
    for i, claim in enumerate(claims):
        assert _points(parts[f"claim {i}"]) == rest & _points(_set(claim))
        rest -= _points(_set(claim))
    assert _points(parts[""]) == rest
    assert sum(part.total_ns for part in parts.values()) == merged.total_ns


def test_of_a_table_and_single() -> None:
    table = Table(OPERATORS, {"start_ns": [5, 1], "duration_ns": [2, 3]})
    assert [values.tolist() for values in intervals.of(table)] == [[5, 1], [7, 4]]
    assert intervals.single(3, 3) is intervals.EMPTY
    assert intervals.single(3, 8).total_ns == 5


def test_epoch_times_stay_exact() -> None:
    epoch = 1_790_857_026_000_000_001
    merged = intervals.union(_set([(epoch, epoch + 3), (epoch + 3, epoch + 7)]))
    assert merged.starts.tolist() == [epoch]
    assert intervals.covered(merged, merged.starts + 1, merged.ends + 9).tolist() == [6]
