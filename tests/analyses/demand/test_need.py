"""Bounds of what is needed: joined, and carried between views."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.need import Need, both, box, everything, in_view, in_whole, nothing

ROWS = np.array([True, False, False])


def test_all_and_nothing() -> None:
    assert everything((3, 4)).share == 1
    assert everything((3, 4)).whole
    assert nothing((3, 4)).share == 0
    assert not nothing((3, 4)).whole
    assert everything((0,)).share == 1


def test_a_box_with_all_places_is_everything() -> None:
    assert box((3, 4), (np.ones(3, bool), None)).whole


def test_a_count_bounds_a_box() -> None:
    assert Need((3, 4), (ROWS, None), 12).elements == 4
    assert box((3, 4), (ROWS, None)).at_most(2).elements == 2
    assert box((3, 4), (ROWS, None)).at_most(9).elements == 4


def test_both_is_no_more_than_their_sum() -> None:
    row, column = box((3, 4), (ROWS, None)), box((3, 4), (None, np.array([True, False, False, False])))
    joined = both(row, column)
    assert joined.elements == 4 + 3
    assert both(row, nothing((3, 4))) is row
    assert both(nothing((3, 4)), row) is row
    assert both(row, everything((3, 4))).whole
    assert both(row, row).elements == 4


def test_the_last_position_of_what_was_made_as_a_matrix() -> None:
    """Two sequences of four positions."""
    whole, view = contiguous((8, 5)), Geometry((2, 5), (20, 1), 15)
    need = in_whole(everything((2, 5)), view, whole)
    assert need.elements == 10
    assert need.axes[0] is not None
    assert np.flatnonzero(need.axes[0]).tolist() == [3, 7]
    assert need.axes[1] is None
    assert in_view(need, view, whole).whole
    assert not in_view(need, Geometry((2, 5), (20, 1), 10), whole).elements


def test_a_diagonal_has_all_rows_and_one_element_of_each() -> None:
    need = in_whole(everything((3,)), Geometry((3,), (4,)), contiguous((3, 3)))
    assert need.elements == 3
    assert need.boxed == 9


def test_exchanged_axes_keep_their_places() -> None:
    need = in_whole(box((4, 3), (None, ROWS)), Geometry((4, 3), (1, 4)), contiguous((3, 4)))
    assert need.axes[0] is ROWS
    assert need.elements == 4


def test_exchanged_axes_keep_their_places_in_the_view() -> None:
    need = in_view(box((3, 4), (ROWS, None)), Geometry((4, 3), (1, 4)), contiguous((3, 4)))
    assert (need.shape, need.elements) == ((4, 3), 4)
    assert need.axes[0] is None and need.axes[1] is ROWS


def test_nothing_and_the_tensor_itself() -> None:
    whole, row = contiguous((3, 4)), Geometry((4,), (1,))
    of_row, of_whole = in_whole(nothing((4,)), row, whole), in_view(nothing((3, 4)), row, whole)
    assert (of_row.shape, of_row.elements, of_whole.shape, of_whole.elements) == ((3, 4), 0, (4,), 0)
    need = box((3, 4), (ROWS, None)).at_most(2)
    assert in_whole(need, whole, whole) is need and in_view(need, whole, whole) is need


def test_an_expanded_view_needs_each_place_once() -> None:
    whole = contiguous((3,))
    assert in_whole(everything((2, 3)), Geometry((2, 3), (0, 1)), whole).whole
    assert in_view(box((3,), (ROWS,)), Geometry((2, 3), (0, 1)), whole).elements == 2


def test_what_cannot_be_placed_is_all_needed() -> None:
    assert in_whole(everything((2,)), Geometry((2,), (2,), 7), contiguous((3, 3))).whole
    assert in_view(box((3, 3), (ROWS, None)), Geometry((2,), (2,), 7), contiguous((3, 3))).whole


def test_a_scalar() -> None:
    assert in_whole(everything(()), Geometry((), (), 2), contiguous((3,))).elements == 1


def test_a_diagonal_of_what_is_too_large_to_count_through() -> None:
    assert in_whole(everything((5000,)), Geometry((5000,), (5001,)), contiguous((5000, 5000))).elements == 5000
