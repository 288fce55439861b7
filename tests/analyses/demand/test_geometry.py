"""Which elements of a tensor a view of its storage takes."""

from __future__ import annotations

import pytest

from gpuprof.analyses.demand.geometry import Geometry, aligned, axis_order, contiguous


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((5,), (1,)), ((2, 3, 4), (12, 4, 1)), ((2, 0, 4), (4, 4, 1)), ((3, 1), (1, 1))],
)
def test_a_new_tensor(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    assert contiguous(shape) == Geometry(shape, strides)


def test_an_expanded_axis_is_one_place() -> None:
    assert Geometry((4, 3), (0, 1)).distinct == 3
    assert Geometry((4, 3), (0, 1)).elements == 12


def test_the_last_positions_of_each_sequence() -> None:
    """Rows 39, 79, … of what was made as a matrix; the columns are the same."""
    how = aligned(Geometry((2, 100), (4000, 1), 3900), contiguous((80, 100)))
    assert how is not None
    assert (how.shared, how.to_whole.tolist()) == (1, [39, 79])


def test_a_diagonal() -> None:
    how = aligned(Geometry((3,), (4,)), contiguous((3, 3)))
    assert how is not None
    assert how.to_whole.tolist() == [0, 4, 8]


def test_a_whole_that_begins_within_its_storage() -> None:
    how = aligned(Geometry((2,), (4,), 7), Geometry((3, 3), (3, 1), 7))
    assert how is not None
    assert how.to_whole.tolist() == [0, 4]


def test_what_lies_elsewhere_is_no_part() -> None:
    assert aligned(Geometry((3,), (4,), 2), contiguous((3, 3))) is None


def test_too_much_to_enumerate() -> None:
    assert aligned(Geometry((1 << 22,), (2,)), contiguous((1 << 23,))) is None


def test_exchanged_axes() -> None:
    assert axis_order(Geometry((4, 3), (1, 4)), contiguous((3, 4))) == (1, 0)
    assert axis_order(Geometry((4, 3), (1, 4), 1), contiguous((3, 4))) is None
    assert axis_order(Geometry((3, 2), (4, 1)), contiguous((3, 4))) is None


def test_axes_that_are_alike_may_be_either() -> None:
    expanded = Geometry((3, 3), (0, 0))
    assert axis_order(expanded, expanded) is None
    assert axis_order(Geometry((2, 2, 4), (1, 1, 8)), Geometry((4, 2, 2), (8, 1, 1))) is None


def test_axes_of_one_place_are_no_axes() -> None:
    thin = contiguous((1, 1, 4))
    assert axis_order(thin, Geometry((1, 1, 4), (4, 4, 1))) == (0, 1, 2)
    assert axis_order(Geometry((4, 1, 1), (1, 4, 4)), thin) == (1, 2, 0)


def test_an_axis_of_one_place_has_no_number() -> None:
    how = aligned(Geometry((2,), (4,)), Geometry((3, 1, 4), (4, 9, 1)))
    assert how is not None
    assert (how.shared, how.to_whole.tolist()) == (0, [0, 4])


@pytest.mark.parametrize("strides", [(0, 1), (1, 1), (2, 1)])
def test_a_whole_that_covers_itself_has_no_numbers(strides: tuple[int, ...]) -> None:
    assert aligned(Geometry((2,), (1,)), Geometry((3, 4), strides)) is None
