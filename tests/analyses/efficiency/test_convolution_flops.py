"""What convolutions cannot be counted from, and how numbers are read."""

from __future__ import annotations

import pytest

from gpuprof.analyses.efficiency.convolution_flops import convolution_flops

GIVEN, WEIGHT = (2, 3, 9, 9), (4, 3, 3, 3)
NUMBERS = ("", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1")
BACKWARD = ("", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]")
ONCE = 2 * 2 * (4 * 3 * 9) * 49


def forward(**changed: str) -> int | None:
    values = list(NUMBERS)
    for place, text in changed.items():
        values[int(place.removeprefix("at"))] = text
    return convolution_flops("aten::convolution", (GIVEN, WEIGHT), values)


def test_forward() -> None:
    assert forward() == ONCE
    assert forward(at3="[1]") == ONCE
    assert forward(at6="True") == ONCE // 49 * 81
    assert forward(at4="[1, 1]") == ONCE // 49 * 81
    assert forward(at5="[9, 9]") == 0


@pytest.mark.parametrize("text", ["", "[1", "[1, 1, 1]", "[]", '["1", "1"]', "[true, true]", "7", "[0, 0]"])
def test_a_stride_that_cannot_be_read_leaves_it_unknown(text: str) -> None:
    assert forward(at3=text) is None


@pytest.mark.parametrize("place", ["at4", "at5"])
def test_nor_is_it_known_without_padding_or_dilation_alone(place: str) -> None:
    assert forward(**{place: "[1"}) is None


def test_unknown_without_numbers_or_shapes() -> None:
    assert forward(at6="") is None
    assert convolution_flops("aten::convolution", (GIVEN, WEIGHT), ()) is None
    assert convolution_flops("aten::convolution", (GIVEN,), NUMBERS) is None
    assert convolution_flops("aten::convolution", (GIVEN, (4, 3, 3)), NUMBERS) is None
    assert convolution_flops("aten::mm", (GIVEN, WEIGHT), NUMBERS) is None


@pytest.mark.parametrize(
    ("mask", "times"),
    [("[True, True, True]", 2), ("[False, True, True]", 1), ("[0, 0, 1]", 0), ("", None), ("[True]", None)],
)
def test_backward_by_which_gradients_are_asked_for(mask: str, times: int | None) -> None:
    values = (*BACKWARD[:10], mask)
    found = convolution_flops("aten::convolution_backward", ((2, 4, 7, 7), GIVEN, WEIGHT), values)
    assert found == (None if times is None else times * ONCE)


def test_backward_of_a_transposed_convolution_counts_positions_of_its_input() -> None:
    values = (*BACKWARD[:7], "True", *BACKWARD[8:])
    shapes = ((2, 3, 11, 11), (2, 4, 9, 9), (4, 3, 3, 3))
    assert convolution_flops("aten::convolution_backward", shapes, values) == 2 * (2 * 2 * (4 * 3 * 9) * 81)
    assert convolution_flops("aten::convolution_backward", shapes, (*BACKWARD[:7], "", *BACKWARD[8:])) is None
