"""Which operators are equal to one before them, and which are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from tests.support.look_builder import LookBuilder


def first(look: LookBuilder) -> list[int]:
    found: list[int] = Results(look.build()).get(ValueNumbers).first.tolist()
    return found


def twice(**facts: Any) -> list[int]:
    look = LookBuilder().tensor("x")
    return first(look.operator("aten::exp", 1, reads="x", makes="a").operator(
        **{"name": "aten::exp", "for_us": 1, "reads": "x", "makes": "b", **facts}
    ))  # fmt: skip


def test_the_same_operator_on_the_same_value_is_equal() -> None:
    assert twice() == [-1, 0]


@pytest.mark.parametrize(
    "other",
    [{"name": "aten::log"}, {"scalars": 3}, {"random": True}, {"reads": ""}, {"reads": "x x"}, {"dtype": "float64"}],
)
def test_any_difference_makes_another(other: dict[str, Any]) -> None:
    assert twice(**other) == [-1, -1]


def test_equal_fingerprints_are_equal_contents_and_no_fingerprint_is_none() -> None:
    look = LookBuilder().tensor("x", content=5).tensor("y", content=5).tensor("u").tensor("v")
    for each in "xyuv":
        look.operator("aten::exp", 1, reads=each, makes=f"of_{each}")
    assert first(look) == [-1, 0, -1, -1]


def test_equal_bytes_of_another_type_or_through_another_view_are_another_content() -> None:
    look = LookBuilder().tensor("x", content=5).tensor("y", content=5, dtype="int32").view("part", "x", view=9)
    for each in ("x", "y", "part"):
        look.operator("aten::exp", 1, reads=each, makes=f"of_{each}")
    assert first(look) == [-1, -1, -1]


def test_what_equal_operators_make_is_equal_without_a_fingerprint() -> None:
    look = LookBuilder().tensor("x")
    for each in "ab":
        look.operator("aten::exp", 1, reads="x", makes=each).operator("aten::log", 1, reads=each, makes=each * 2)
    assert first(look) == [-1, -1, 0, 1]


def test_a_result_that_differs_shows_that_an_operator_is_not_a_function_of_its_inputs() -> None:
    look = LookBuilder().tensor("x")
    look.operator("lib::odd", 1, reads="x", makes="a", content=1).operator(
        "lib::odd", 1, reads="x", makes="b", content=2
    )
    look.operator("aten::exp", 1, reads="a", makes="c").operator("aten::exp", 1, reads="b", makes="d")
    assert first(look) == [-1, -1, -1, -1]


def test_a_write_makes_another_value() -> None:
    look = LookBuilder().tensor("x", content=1).operator("aten::exp", 1, reads="x", makes="a")
    look.operator("aten::add_", 1, writes="x", scalars=1).operator("aten::exp", 1, reads="x", makes="b")
    assert first(look) == [-1, -1, -1]


def test_writes_in_equal_order_into_equal_tensors_are_equal() -> None:
    look = LookBuilder()
    for _ in range(2):
        look.operator("aten::zeros", 1, makes="t").view("row", "t", view=3, elements=8)
        look.operator("aten::fill_", 1, writes="row", scalars=4).operator("aten::exp", 1, reads="t", makes="e")
    assert first(look) == [-1, -1, -1, 0, 1, 2]


def test_a_part_that_is_written_alike_leaves_what_is_beside_it() -> None:
    """The written rows are equal, the tensors around them are not."""
    look = LookBuilder().tensor("s", content=1).tensor("t", content=2)
    for each in "st":
        look.view(f"{each}_row", each, view=3, elements=8)
        look.operator("aten::fill_", 1, writes=f"{each}_row", scalars=4)
        look.operator("aten::exp", 1, reads=each, makes=f"of_{each}")
    assert first(look) == [-1] * 4


def test_memory_as_it_was_found_equals_nothing() -> None:
    look = LookBuilder()
    for each in "ab":
        look.operator("aten::empty.memory_format", 1, makes=each).operator("aten::exp", 1, reads=each, makes=each * 2)
    assert first(look) == [-1] * 4


def test_of_a_tensor_to_make_another_like_it_only_the_shape_counts() -> None:
    look = LookBuilder().tensor("x", content=1).tensor("y", content=2)
    for each in "xy":
        look.operator("aten::zeros_like", 1, reads=each, makes=f"like_{each}")
    assert first(look) == [-1, 0]


def test_an_unknown_storage_equals_nothing() -> None:
    look = LookBuilder().tensor("x")
    look.operator("aten::exp", 1, reads="x", makes="a").operator("aten::exp", 1, reads="x", makes="b")
    for row in look.builder._rows["looked_reads"]:
        row["value"] = -1
    assert first(look) == [-1, -1]


def test_nothing_looked_at() -> None:
    found = Results(LookBuilder().builder.build()).get(ValueNumbers)
    assert not len(found.first) and not len(found.content)


_OPERATIONS = {
    "aten::add": np.add, "aten::mul": np.multiply, "aten::maximum": np.maximum, "aten::sub": np.subtract,
}  # fmt: skip
_NAMES = ("a", "b", "c", "d")
_STEP = st.tuples(
    st.sampled_from(["make", "write", "write part", "random"]),
    st.sampled_from(sorted(_OPERATIONS)),
    *(st.sampled_from(_NAMES) for _ in range(3)),
)


@given(
    steps=st.lists(_STEP, max_size=25), start=st.lists(st.integers(0, 1), min_size=4, max_size=4), known=st.booleans()
)
def test_programs_repeat_what_real_arrays_repeat(steps: list[Any], start: list[int], known: bool) -> None:
    """With a fingerprint of everything exactly what brute force finds on arrays; without any, never more."""
    look, prints, random = LookBuilder(), dict[bytes, int](), np.random.default_rng(0)

    def content(array: np.ndarray[Any, Any]) -> int:
        return prints.setdefault(array.tobytes(), len(prints) + 1) if known else 0

    arrays = {name: np.full(4, value) for name, value in zip(_NAMES, start, strict=True)}
    for name, array in arrays.items():
        look.tensor(name, content=content(array), elements=4)
        look.view(f"{name}_part", name, view=1, elements=2)
    seen, expected = set[Any](), list[bool]()
    for how, operation, left, right, out in steps:
        if how == "random":
            arrays[out] = random.integers(0, 3, 4)
            look.operator("aten::rand", 1, makes=out, random=True, content=content(arrays[out]), elements=4)
            look.view(f"{out}_part", out, view=1, elements=2)
            expected.append(False)
            continue
        inputs = [arrays[left].tobytes(), arrays[right].tobytes()]
        if how == "make":
            arrays[out] = _OPERATIONS[operation](arrays[left], arrays[right])
            look.operator(operation, 1, reads=f"{left} {right}", makes=out, content=content(arrays[out]), elements=4)
            look.view(f"{out}_part", out, view=1, elements=2)
        else:
            part = slice(0, 2) if how == "write part" else slice(0, 4)
            tensor = f"{out}_part" if how == "write part" else out
            inputs = [arrays[out].tobytes(), arrays[right].tobytes()]
            arrays[out][part] = _OPERATIONS[operation](arrays[out], arrays[right])[part]
            new = content(arrays[out])
            look.operator(operation + "_", 1, reads=f"{tensor} {right}", writes=tensor, content=new, scalars=part.stop)
            if not new:
                look.builder._rows["looked_reads"].pop()
        key = (how, operation, *inputs)
        expected.append(key in seen)
        seen.add(key)
    found = [each >= 0 for each in first(look)]
    assert found == expected if known else all(real or not told for told, real in zip(found, expected, strict=True))
