"""Reading recorded shapes."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.tensor_inputs import TensorInput, inputs_of, shapes_of, values_of
from tests.support.trace_builder import TraceBuilder


def test_shapes_and_types_are_read() -> None:
    types = '["c10::BFloat16", "c10::BFloat16", "", "Scalar", "TensorList"]'
    builder = TraceBuilder().operator("aten::linear", 0, 1, dims="[[2, 3], [4, 3], [], [], [[1], [2]]]", types=types)
    first, second, absent, scalar, several = inputs_of(builder.build(), 0)
    assert (first.dims, first.elements, first.element_bytes) == ((2, 3), 6, 2)
    assert second == TensorInput((4, 3), "c10::BFloat16")
    assert absent.dims == scalar.dims == several.dims == ()
    assert scalar.element_bytes is None


@pytest.mark.parametrize("dims", [None, "", "[[1, 2", "{}", "7"])
def test_what_cannot_be_read_is_empty(dims: str | None) -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 1, dims=dims, types="[").build()
    assert inputs_of(trace, 0) == ()


def test_without_types_the_shapes_still_count() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 1, dims="[[2, 3]]").build()
    assert inputs_of(trace, 0) == (TensorInput((2, 3), ""),)


@pytest.mark.parametrize(
    ("dims", "shapes"),
    [
        ("[[[4, 3], [2, 3]], []]", ((4, 3), (2, 3))),
        ("[[2, 3], [], [[5], [0]], []]", ((2, 3), (5,), (0,))),
        ("[[], [[]]]", ()),
        ('[7, ["x"], [-1]]', ()),
        ("{}", ()),
        ("[[", ()),
        (None, ()),
    ],
)
def test_tensors_in_lists_have_shapes_too(dims: str | None, shapes: tuple[tuple[int, ...], ...]) -> None:
    trace = TraceBuilder().operator("aten::cat", 0, 1, dims=dims).build()
    assert shapes_of(trace, 0) == shapes


@pytest.mark.parametrize(
    ("recorded", "values"),
    [(None, ()), ('["", "7", "False", 2]', ("", "7", "False", "")), ("7", ()), ("[", ())],
)
def test_values_are_given_as_text(recorded: str | None, values: tuple[str, ...]) -> None:
    trace = TraceBuilder().operator("aten::select", 0, 1, values=recorded).build()
    assert values_of(trace, 0) == values
