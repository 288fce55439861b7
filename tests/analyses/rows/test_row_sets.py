"""Axes that number rows, whatever view of a storage they are seen in: by the place of every element."""

from __future__ import annotations

import itertools
from math import prod

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.rows.row_sets import Axes, Rows, RowSelection, Spans, count, spans_of
from gpuprof.model.table import Array

SHAPES = st.lists(st.sampled_from((1, 2, 3, 4)), min_size=1, max_size=4).map(tuple)


def places(view: Geometry) -> Array:
    """Of each element, in the order of the view."""
    at = np.indices(view.shape).reshape(len(view.shape), -1)
    found: Array = np.array(view.strides) @ at
    return found


def rows_by_axes(view: Geometry, axes: Axes) -> Array:
    """A number for each place of the storage: that of its row."""
    at = np.indices(view.shape).reshape(len(view.shape), -1)
    number = np.zeros(view.elements, np.int64)
    for axis in sorted(axes):
        number = number * view.shape[axis] + at[axis]
    rows = np.full(int(places(view).max()) + 1, -1)
    rows[places(view)] = number
    return rows


def rows_by_spans(spans: Spans, storage: int) -> Array:
    keys = [tuple((place % high if high < np.inf else place) // low for low, high in spans) for place in range(storage)]
    numbers = {key: at for at, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys])


def alike(one: Array, other: Array) -> bool:
    """Whether both part the storage into the same rows."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@st.composite
def views(draw: st.DrawFn) -> Geometry:
    """All of a storage, its axes in any order; strides of axes of one element are anything."""
    whole = contiguous(draw(SHAPES))
    order = draw(st.permutations(range(len(whole.shape))))
    shape = tuple(whole.shape[axis] for axis in order)
    steps = tuple(whole.strides[axis] if whole.shape[axis] > 1 else draw(st.integers(0, 9)) for axis in order)
    return Geometry(shape, steps)


@settings(max_examples=150)
@given(views(), st.data())
def test_spans_part_a_storage_into_the_rows_that_the_axes_number(view: Geometry, data: st.DataObject) -> None:
    axes = frozenset(data.draw(st.sets(st.sampled_from(range(len(view.shape))))))
    counting = frozenset(axis for axis in axes if view.shape[axis] > 1)
    spans = spans_of(view, axes)
    assert (spans is None) is (not counting)
    if spans is None:
        return
    assert alike(rows_by_axes(view, axes), rows_by_spans(spans, view.elements))
    assert count(view.shape, axes) == len(set(rows_by_axes(view, axes).tolist()))
    assert Rows(spans, frozenset()).axes(view) == counting
    # axes that lie next to each other in the storage are one span
    assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))


@settings(max_examples=150)
@given(views(), st.data())
def test_another_view_has_axes_for_the_same_rows_or_none(view: Geometry, data: st.DataObject) -> None:
    axes = frozenset(data.draw(st.sets(st.sampled_from(range(len(view.shape))))))
    spans = spans_of(view, axes)
    shapes = [each for each in itertools.product((1, 2, 3, 4, 6, 8), repeat=3) if prod(each) == view.elements]
    if spans is None or not shapes:
        return
    other = contiguous(data.draw(st.sampled_from(shapes)))
    usual = rows_by_axes(view, axes)
    large = [axis for axis in range(3) if other.shape[axis] > 1]
    chosen = [frozenset(each) for many in range(4) for each in itertools.combinations(large, many)]
    fitting = [each for each in chosen if alike(rows_by_axes(other, each), usual)]
    assert Rows(spans, frozenset()).axes(other) == (fitting[0] if fitting else None)


def test_elements_that_share_a_place_are_in_no_row() -> None:
    assert spans_of(Geometry((3, 4), (0, 1)), frozenset({0})) is None
    # windows that overlap
    assert spans_of(Geometry((3, 3), (1, 1)), frozenset({0})) is None
    assert spans_of(Geometry((3, 3), (2, 1)), frozenset({0})) is None
    assert spans_of(Geometry((3, 3), (3, 1)), frozenset({0})) == ((3, np.inf),)


def test_two_selections_join_where_their_rows_are_the_same_ones() -> None:
    one, other = RowSelection(1, 30), RowSelection(2, 12)
    both = Rows(((4, 16),), frozenset({one})).also(Rows(((4, 16),), frozenset({other})))
    assert both is not None and both.of == {one, other} and both.kept == 42
    assert Rows(((4, 16),), frozenset({one})).also(Rows(((4, 32),), frozenset({other}))) is None
