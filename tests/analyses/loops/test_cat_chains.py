"""Cats that each take the result of the one before."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.loops.cat_chains import cat_chains
from tests.support.trace_builder import TraceBuilder

Found = list[tuple[int, int, tuple[int, ...], bool]]


def chains(*calls: tuple[str, str], least: int = 3) -> Found:
    """Number of cats, dimension, last shape and use of each chain; `calls` as (name, shapes), one after the other."""
    builder = TraceBuilder()
    for place, (name, dims) in enumerate(calls):
        builder.operator(name, 10 * place, 5, dims=f"[{dims}, []]")
    trace = builder.build()
    cats = np.flatnonzero(trace.name_mask(trace.operators, "aten::cat"))
    return [(len(each.rows), each.dimension, each.results[-1], used) for each, used in cat_chains(trace, cats, least)]


def cat(*shapes: str) -> tuple[str, str]:
    return "aten::cat", f"[{', '.join(shapes)}]"


def test_a_tensor_that_grows_is_followed() -> None:
    assert chains(*(cat(f"[{n}, 8]", "[2, 8]") for n in (0, 2, 4, 6))) == [(4, 0, (8, 8), False)]


@pytest.mark.parametrize("first", ["[0]", "[2, 3]"], ids=["an empty tensor of one dimension", "alike inputs"])
def test_the_dimension_is_told_by_the_turns_that_follow(first: str) -> None:
    grown = 2 if first == "[0]" else 4
    turns = [cat(first, "[2, 3]"), *(cat(f"[{n}, 3]", "[2, 3]") for n in (grown, grown + 2))]
    assert chains(*turns) == [(3, 0, (grown + 4, 3), False)]


def test_pieces_may_come_first_be_several_and_differ_in_size() -> None:
    turns = [cat("[5, 1]", "[5, 0]"), cat("[5, 2]", "[5, 1]", "[5, 2]"), cat("[5, 3]", "[5, 5]")]
    assert chains(*turns) == [(3, 1, (5, 8), False)]


def test_two_tensors_that_grow_in_turns_do_not_use_each_other() -> None:
    turns = [turn for n in range(4) for turn in (cat(f"[{n}, 8]", "[1, 8]"),) * 2]
    assert chains(*turns) == [(4, 0, (4, 8), False)] * 2


@pytest.mark.parametrize("name", ["aten::slice", "aten::scaled_dot_product_attention"])
def test_what_takes_the_whole_tensor_between_two_turns_uses_it(name: str) -> None:
    turns = [turn for n in range(4) for turn in (cat(f"[{n}, 8]", "[1, 8]"), (name, f"[{n + 1}, 8]"))]
    assert chains(*turns) == [(4, 0, (4, 8), True)]


def test_a_shape_met_once_by_chance_is_no_use() -> None:
    turns = [turn for n in range(6) for turn in (cat(f"[{n}, 8]", "[1, 8]"), ("aten::relu", "[3, 8]"))]
    assert chains(*turns) == [(6, 0, (6, 8), False)]


@pytest.mark.parametrize(
    "turns",
    [
        [cat("[4, 8]", "[4, 8]")] * 5,
        [cat("[4, 8]", "[2, 8]")] * 5,
        [cat(f"[{n}, 8]", f"[{n}, 9]") for n in range(5)],
        [("aten::cat", "[]")] * 5,
        [cat(f"[{10 * n}, 8]", "[3, 8]") for n in range(5)],
    ],
    ids=["alike", "the same again", "not to be joined", "no shapes of lists", "another size than came of the last"],
)
def test_other_cats_are_no_chain(turns: list[tuple[str, str]]) -> None:
    assert chains(*turns) == []


def test_a_new_beginning_is_a_new_chain() -> None:
    turns = [cat(f"[{n}, 8]", "[1, 8]") for n in (0, 1, 2)] * 2
    assert chains(*turns) == [(3, 0, (3, 8), False)] * 2


def test_what_torch_puts_around_a_cat_does_not_use_it() -> None:
    builder = TraceBuilder()
    for n in range(4):
        dims = f"[[[{n}, 8], [1, 8]]]"
        builder.operator("aten::vstack", 20 * n, 12, dims=dims)
        builder.operator("aten::atleast_2d", 20 * n + 1, 2, dims=dims)
        builder.operator("aten::cat", 20 * n + 4, 5, dims=f"{dims[:-1]}, []]")
    trace = builder.build()
    cats = np.flatnonzero(trace.name_mask(trace.operators, "aten::cat"))
    assert [used for _, used in cat_chains(trace, cats, 3)] == [False]


def test_a_cat_of_one_tensor_begins_no_chain() -> None:
    grown = [cat(f"[{n}, 8]", "[2, 8]") for n in (2, 4, 6)]
    assert chains(cat("[2, 8]"), *grown) == chains(*grown) == [(3, 0, (8, 8), False)]
    assert chains(*[cat("[0]", "[0]")] * 4) == []
