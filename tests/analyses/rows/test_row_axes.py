"""Which axes of a result number the same rows as those of an argument: by what changes where one element changes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.looked import LookedOperator, Taken
from gpuprof.analyses.rows.row_axes import along, summed, zero_with

torch = pytest.importorskip("torch")
aten = torch.ops.aten
Pair = tuple[int, int]


def real(*shape: int) -> Any:
    return (torch.arange(1.0, 1 + int(np.prod(shape))).reshape(shape) * 0.7).sin() + 1.5


def whole(most: int, *shape: int) -> Any:
    return torch.arange(int(np.prod(shape))).reshape(shape) % most


def looked(name: str, given: list[Any], made: Any, arguments: list[Any] | None = None) -> LookedOperator:
    """As a close look has it: tensors apart from the other arguments."""

    def taken(tensor: Any) -> Taken:
        return Taken(0, tensor.numel(), contiguous(tuple(tensor.shape)))

    tensors = [taken(each) for each in given if isinstance(each, torch.Tensor)]
    others = [None if isinstance(each, torch.Tensor) else each for each in given] if arguments is None else arguments
    results = [each for each in made if each is not None] if isinstance(made, tuple | list) else [made]
    return LookedOperator(f"aten::{name}", others, False, False, tuple(tensors), tuple(map(taken, results)))


def first_of(name: str, given: list[Any]) -> Any:
    made = getattr(aten, name)(*given)
    return made[0] if isinstance(made, tuple | list) else made


def changed(tensor: Any, place: tuple[int, ...]) -> Any:
    """Another number at one place: another class, another side of a mask, or none at all."""
    other = tensor.clone()
    if tensor.dtype == torch.bool:
        other[place] = not other[place]
    else:
        other[place] = float("nan") if tensor.is_floating_point() else (other[place] + 1) % int(tensor.max() + 1)
    return other


def pairs_of(name: str, given: list[Any], at: int) -> tuple[set[Pair], bool]:
    """Of result and argument the axes along which each place changes the same place alone; and whether any does."""
    plain, tensor = first_of(name, given), given[at]
    axes = [
        (own, read)
        for own, read in itertools.product(range(plain.dim()), range(tensor.dim()))
        if plain.shape[own] == tensor.shape[read] > 1
    ]
    found, reached = set(axes), False
    for place in np.ndindex(*tensor.shape):
        made = first_of(name, [*given[:at], changed(tensor, place), *given[at + 1 :]])
        differs = ~((made == plain) | (made.isnan() & plain.isnan()))
        for result in differs.nonzero().tolist():
            reached = True
            found = {(own, read) for own, read in found if result[own] == place[read]}
    return found, reached


NORMED = real(3, 2, 4)
_, MEAN, DEVIATION = aten.native_layer_norm(NORMED, [4], None, None, 1e-5)
IMAGE, TAPS = real(2, 3, 4, 6), real(5, 3, 3, 3)
POOLED, CHOSEN = aten.max_pool2d_with_indices(IMAGE, [2, 2])
CONVOLVED = [None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1]
CASES: list[tuple[str, list[Any]]] = [
    ("add", [real(3, 4, 2), real(4, 1)]),
    ("mul", [real(4), real(3, 1, 4)]),
    ("where", [whole(2, 3, 4) > 0, real(3, 4), real(4)]),
    ("masked_fill", [real(3, 4), whole(2, 3, 1) > 0, 2.0]),
    ("sigmoid_backward", [real(3, 4), real(3, 4)]),
    ("mse_loss", [real(3, 4), real(3, 4), 0]),
    ("mse_loss_backward", [real(3, 4), real(3, 4), real(3, 4), 0]),
    ("sum", [real(3, 4)]),
    ("sum", [real(3, 4, 2), [1], False]),
    ("sum", [real(3, 4, 2), [0, -1], True]),
    ("_softmax", [real(3, 4, 2), 1, False]),
    ("_softmax_backward_data", [real(3, 4), real(3, 4), -1, torch.float32]),
    ("native_layer_norm", [NORMED, [4], real(4), real(4), 1e-5]),
    ("native_layer_norm", [NORMED, [2, 4], None, None, 1e-5]),
    ("native_layer_norm_backward", [real(3, 2, 4), NORMED, [4], MEAN, DEVIATION, real(4), real(4), [True] * 3]),
    ("mm", [real(3, 5), real(5, 4)]),
    ("bmm", [real(2, 3, 5), real(2, 5, 4)]),
    ("addmm", [real(4), real(3, 5), real(5, 4)]),
    ("baddbmm", [real(3, 1), real(2, 3, 5), real(2, 5, 4)]),
    ("linear", [real(2, 3, 5), real(4, 5)]),
    ("convolution", [IMAGE, TAPS, *CONVOLVED]),
    ("convolution_backward", [real(2, 5, 4, 6), IMAGE, TAPS, *CONVOLVED, [True, True, False]]),
    ("max_pool2d_with_indices", [IMAGE, [2, 2]]),
    ("max_pool2d_with_indices_backward", [POOLED, IMAGE, [2, 2], [2, 2], [0, 0], [1, 1], False, CHOSEN]),
    ("avg_pool2d_backward", [POOLED, IMAGE, [2, 2], [2, 2], [0, 0], False, True, None]),
    ("upsample_nearest2d", [IMAGE, [8, 12]]),
    ("slice_backward", [real(3, 4), [6, 4], 0, 2, 5, 1]),
    ("nll_loss_forward", [real(3, 4), whole(4, 3), None, 0, -100]),
    ("nll_loss2d_forward", [real(2, 5, 3, 4), whole(5, 2, 3, 4), None, 0, -100]),
    ("nll_loss_backward", [real(3), real(3, 4), whole(4, 3), None, 0, -100, torch.tensor(3.0)]),
    ("nll_loss2d_backward", [real(2, 3, 4), real(2, 5, 3, 4), whole(5, 2, 3, 4), None, 0, -100, torch.tensor(24.0)]),
]


@pytest.mark.parametrize(("name", "given"), CASES, ids=[f"{at}-{name}" for at, (name, _) in enumerate(CASES)])
def test_rows_are_those_along_which_a_place_changes_its_own_place_alone(name: str, given: list[Any]) -> None:
    made = getattr(aten, name)(*given)
    found = along(looked(name, given, made))
    assert found is not None
    read = [at for at, each in enumerate(given) if isinstance(each, torch.Tensor)]
    assert len(found) == len(read)
    result = made[0] if isinstance(made, tuple) else made
    for mapping, at in zip(found, read, strict=True):
        told = {(own, axis) for own, axis in mapping.items() if result.shape[own] == given[at].shape[axis] > 1}
        expected, reached = pairs_of(name, given, at)
        # of weights no row is asked for
        weights = given[at] is TAPS or ("layer_norm" in name and given[at].dim() == 1)
        exact = reached and not weights
        assert told == expected if exact else told <= expected, (name, at)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mean", [real(3, 4)]),
        ("mse_loss", [real(3, 4), real(3, 4)]),
        ("cumsum", [real(3, 4)]),
        ("flip", [real(3, 4), "1"]),
        ("native_layer_norm", [real(3, 4)]),
        ("mm", [real(3, 4)]),
        ("unheard_of", [real(3, 4)]),
        ("nll_loss_forward", [real(3, 4), whole(4, 3)]),
        ("nll_loss_backward", [real(3), real(3, 4), whole(4, 3)]),
        ("slice_backward", [real(4), [6, 4], 0]),
    ],
)
def test_what_mixes_rows_or_may_has_none(name: str, given: list[Any]) -> None:
    """The result is one number."""
    assert along(looked(name, given, torch.tensor(1.0))) is None


def test_without_shapes_rows_are_not_known() -> None:
    relu = looked("relu", [real(3, 4)], real(3, 4))
    strange = Taken(0, 12, None)
    assert along(relu) == ({0: 0, 1: 1},)
    assert along(LookedOperator("aten::relu", [], False, False, (strange,), relu.results)) is None
    assert along(LookedOperator("aten::relu", [], False, False, relu.reads, (strange,))) is None
    assert along(LookedOperator("aten::relu", [], False, False, relu.reads, ())) is None
    assert summed(LookedOperator("aten::sum", [], False, False, (strange,), relu.results), 0, frozenset({0})) is None


def axes(*each: int) -> frozenset[int]:
    return frozenset(each)


@pytest.mark.parametrize(
    ("name", "given", "at", "rows", "expected"),
    [
        # the gradient of a weight: sums over the rows of both
        ("mm", [real(5, 3), real(3, 4)], 0, axes(1), (axes(1), axes(0))),
        ("mm", [real(5, 3), real(3, 4)], 1, axes(0), (axes(1), axes(0))),
        ("bmm", [real(2, 5, 3), real(2, 3, 4)], 0, axes(0, 2), (axes(0, 2), axes(0, 1))),
        ("bmm", [real(2, 5, 3), real(2, 3, 4)], 1, axes(1), (axes(2), axes(1))),
        ("sum", [real(3, 4), [0], False], 0, axes(0), (axes(0),)),
        ("sum", [real(3, 4)], 0, axes(0, 1), (axes(0, 1),)),
        # rows that are there in the result
        ("mm", [real(5, 3), real(3, 4)], 0, axes(0), None),
        ("mm", [real(5, 3), real(3, 4)], 0, axes(0, 1), None),
        ("mm", [real(5, 3), real(3, 4)], 1, axes(1), None),
        ("bmm", [real(2, 5, 3), real(2, 3, 4)], 0, axes(0), None),
        ("sum", [real(3, 4), [0], False], 0, axes(1), None),
        ("sum", [real(3, 4), [0], False], 0, axes(0, 1), None),
        ("mean", [real(3, 4), [0], False], 0, axes(0), None),
    ],
)
def test_rows_that_are_added_up(name: str, given: list[Any], at: int, rows: Any, expected: Any) -> None:
    assert summed(looked(name, given, getattr(aten, name)(*given)), at, rows) == expected


ZEROS: list[tuple[str, list[Any]]] = [
    ("mul", [real(3, 4), real(3, 4)]),
    ("mm", [real(3, 4), real(4, 3)]),
    ("bmm", [real(3, 2, 4), real(3, 4, 2)]),
    ("add", [real(3, 4), real(3, 4)]),
    ("div", [real(3, 4), real(3, 4)]),
    ("neg", [real(3, 4)]),
    ("exp", [real(3, 4)]),
    ("clone", [real(3, 4)]),
    ("sum", [real(3, 4), [1], False]),
    ("masked_fill", [real(3, 4), whole(2, 3, 4) > 0, 0]),
    ("masked_fill", [real(3, 4), whole(2, 3, 4) > 0, 2.0]),
    ("sigmoid_backward", [real(3, 4), real(3, 4)]),
    ("tanh_backward", [real(3, 4), real(3, 4) / 2]),
    ("_softmax_backward_data", [real(3, 4), real(3, 4), -1, torch.float32]),
    ("native_layer_norm_backward", [real(3, 2, 4), NORMED, [4], MEAN, DEVIATION, None, None, [True, False, False]]),
]


@pytest.mark.parametrize(("name", "given"), ZEROS, ids=[f"{at}-{name}" for at, (name, _) in enumerate(ZEROS)])
def test_rows_of_zeros_that_stay_zeros(name: str, given: list[Any]) -> None:
    read = [at for at, each in enumerate(given) if isinstance(each, torch.Tensor)]
    expected = []
    for number, at in enumerate(read):
        zero = given[at].clone()
        # of a second factor a row of the result is a column
        zero[(slice(None), 0) if (name, at) == ("mm", 1) else 0] = 0
        made = first_of(name, [*given[:at], zero, *given[at + 1 :]])
        row = made[:, 0] if (name, at) == ("mm", 1) else made[0]
        if given[at].dtype != torch.bool and given[at].shape[0] > 1 and not row.any():
            expected.append(number)
    found = list(zero_with(looked(name, given, getattr(aten, name)(*given))))
    # of what a backward pass reads only the gradient is asked for
    assert found == (expected[:1] if "backward" in name else expected)


def test_what_nobody_knows_keeps_no_zeros() -> None:
    strange = Taken(0, 12, Geometry((3, 4), (4, 1)))
    assert zero_with(LookedOperator("mine::loss_backward", [], False, False, (strange,), (strange,))) == ()
    assert zero_with(LookedOperator("aten::masked_fill", None, False, False, (strange,), (strange,))) == ()
