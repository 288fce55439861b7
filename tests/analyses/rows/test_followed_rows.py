"""Which rows are followed, and which gradients have zeros, at the bounds: built looks, operator by operator."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.rows.filled_rows import FilledRows
from gpuprof.analyses.rows.followed_rows import FollowedRows, SameWork
from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from tests.support.altering.reordered import with_first_value
from tests.support.look_builder import LookBuilder

ROWS, WIDE = 8, 4


def works(trace: Trace) -> list[SameWork]:
    table = trace.looked_operators
    columns = (table[name].tolist() for name in ("random", "scalars", "iteration"))
    return list(FollowedRows(operators_of(trace), values_of(trace), *columns).works())


def taken(
    look: LookBuilder, source: str, turn: int, makes: str, rows: int = 5, name: str = "aten::index.Tensor"
) -> None:
    look.tensor(f"{makes} numbers", shape=(rows,), dtype="int64", content=100 + turn)
    look._tensors["numbers"] = look._tensors[f"{makes} numbers"]
    arguments = "[null, [null]]" if "select" not in name else "[null, 0, null]"
    look.operator(name, 1, reads=f"{source} numbers", makes=makes, shape=(rows, WIDE), arguments=arguments)


def in_turns(look: LookBuilder, source: str = "x", *, rows: int = 5, name: str = "aten::index.Tensor") -> LookBuilder:
    """Two turns, each takes rows and applies a function to them."""
    for turn in range(2):
        taken(look, source, turn, f"h{turn}", rows, name)
        look.operator("aten::relu", 1, reads=f"h{turn}", makes=f"y{turn}", shape=(rows, WIDE))
        look.operator("aten::exp", 1, reads=f"y{turn}", makes=f"z{turn}", shape=(rows, WIDE))
    return look


def gathered(found: list[SameWork]) -> list[tuple[int, int]]:
    """Of each calculation how often rows were taken, and how many operators it has."""
    return sorted((len(each.gathers), len(each.members)) for each in found)


@pytest.mark.parametrize("name", ["aten::index.Tensor", "aten::index_select"])
def test_rows_of_a_tensor_are_followed_through_what_computes_each_for_itself(name: str) -> None:
    look = in_turns(LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1), name=name)
    found = works(look.build())
    assert gathered(found) == [(2, 2), (2, 2)]
    assert {(each.rows, tuple(each.gathers.values()), each.sliced, each.stays) for each in found} == {
        (ROWS, (5, 5), False, True)
    }


@pytest.mark.parametrize("name", ["aten::index.Tensor", "aten::index_select"])
def test_it_does_not_matter_which_value_comes_first(name: str) -> None:
    trace = in_turns(LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1), name=name).build()
    for first in range(len(trace.looked_values)):
        assert gathered(works(with_first_value(trace, first))) == [(2, 2), (2, 2)]


def test_fewer_rows_than_eight_are_no_set_of_samples() -> None:
    assert works(in_turns(LookBuilder().tensor("x", shape=(ROWS - 1, WIDE), content=1)).build()) == []


@pytest.mark.parametrize("kind", [ValueKind.PARAMETER, ValueKind.GRADIENT, ValueKind.OPTIMIZER_STATE])
def test_weights_and_gradients_are_no_samples(kind: ValueKind) -> None:
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1, kind=kind)
    assert works(in_turns(look).build()) == []
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1, kind=ValueKind.OTHER)
    assert len(works(in_turns(look).build())) == 2


def test_a_tensor_that_was_drawn_is_another_one_each_time() -> None:
    look = LookBuilder().operator("aten::randn", 1, makes="x", shape=(ROWS, WIDE), random=True)
    assert works(in_turns(look).build()) == []


def test_rows_of_a_tensor_that_was_made_of_constants() -> None:
    """It did not exist before the look, and so need not stay."""
    look = (
        LookBuilder()
        .tensor("w", shape=(ROWS, WIDE), content=1)
        .operator("aten::exp", 1, reads="w", makes="x", shape=(ROWS, WIDE))
    )
    found = works(in_turns(look).build())
    assert gathered(found) == [(2, 2), (2, 2)] and not any(each.stays for each in found)


def small_table(rows: int) -> LookBuilder:
    """Each turn takes the same rows of a table, and multiplies the rows of a batch with them."""
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1).tensor("table", shape=(rows, WIDE), content=2)
    look.tensor("same", shape=(WIDE,), dtype="int64", content=3)
    for turn in range(2):
        facts: dict[str, Any] = {"shape": (WIDE, WIDE), "arguments": "[null, [null]]"}
        look.operator("aten::index.Tensor", 1, reads="table same", makes=f"w{turn}", **facts)
        taken(look, "x", turn, f"h{turn}")
        look.operator("aten::mm", 1, reads=f"h{turn} w{turn}", makes=f"y{turn}", shape=(5, WIDE))
    return look


def test_what_is_taken_of_a_small_table_is_a_constant() -> None:
    """The same rows of it are the same weights in each turn."""
    assert gathered(works(small_table(ROWS - 1).build())) == [(2, 2)]


def test_rows_of_rows_are_no_constant() -> None:
    """What is multiplied with them is not the same calculation for each of the rows."""
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1)
    for turn in range(2):
        taken(look, "x", turn, f"a{turn}", ROWS)
        taken(look, f"a{turn}", turn + 5, f"b{turn}", WIDE)
        taken(look, "x", turn + 9, f"h{turn}")
        look.operator("aten::mm", 1, reads=f"h{turn} b{turn}", makes=f"y{turn}", shape=(5, WIDE))
    assert works(look.build()) == []


def with_made_weights(way: str) -> LookBuilder:
    """Two turns, each of which makes its weights anew of the same constants, in that way."""
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1).tensor("c", shape=(WIDE, WIDE), content=2)
    for turn in range(2):
        weights, square = f"w{turn}", (WIDE, WIDE)
        if way == "noise":
            look.operator("aten::randn", 1, makes=f"n{turn}", shape=square, random=True)
            look.operator("aten::add", 1, reads=f"c n{turn}", makes=weights, shape=square)
        else:
            look.operator("aten::exp", 1, reads="c", makes=weights, shape=square, backward=way == "backward")
        if way == "written":
            look.operator("aten::mul_", 1, writes=weights)
        taken(look, "x", turn, f"h{turn}")
        look.operator("aten::mm", 1, reads=f"h{turn} {weights}", makes=f"y{turn}", shape=(5, WIDE))
    return look


@pytest.mark.parametrize(
    ("way", "expected"),
    [("made", [(2, 2)]), ("backward", [(1, 1), (1, 1)]), ("written", [(1, 1), (1, 1)]), ("noise", [])],
)
def test_weights_are_the_same_where_they_follow_from_the_same(way: str, expected: list[tuple[int, int]]) -> None:
    """What is written, or made in a backward pass, is a value of its own; what has a random part is no constant."""
    assert gathered(works(with_made_weights(way).build())) == expected


@pytest.mark.parametrize(("way", "others"), [("made", False), ("written", True)])
def test_the_same_with_other_weights_is_another_work(way: str, others: bool) -> None:
    trace = with_made_weights(way).build()
    table = trace.looked_operators
    columns = (table[name].tolist() for name in ("random", "scalars", "iteration"))
    followed = FollowedRows(operators_of(trace), values_of(trace), *columns)
    assert [followed.has_others(each) for each in followed.works()] == [others] * (2 if others else 1)


@pytest.mark.parametrize("way", ["random", "backward"])
def test_rows_are_not_followed_through_chance_or_a_backward_pass(way: str) -> None:
    look = LookBuilder().tensor("x", shape=(ROWS, WIDE), content=1)
    for turn in range(2):
        taken(look, "x", turn, f"h{turn}")
        facts: dict[str, Any] = {"shape": (5, WIDE), way: True}
        look.operator("aten::relu", 1, reads=f"h{turn}", makes=f"y{turn}", **facts)
    assert works(look.build()) == []


@pytest.mark.parametrize(("rows", "expected"), [(ROWS, [(2, 2)]), (ROWS - 1, [])])
def test_rows_that_are_sliced_one_part_after_the_other(rows: int, expected: list[tuple[int, int]]) -> None:
    """Of each part the same is computed, in two iterations."""
    look = LookBuilder().tensor("x", shape=(rows, WIDE), content=1)
    for turn in range(2):
        look.part(f"p{turn}", "x", shape=(3, WIDE), strides=(WIDE, 1), offset=3 * WIDE * turn, view=turn + 1)
        look.operator("aten::relu", 1, reads=f"p{turn}", makes=f"y{turn}", shape=(3, WIDE), iteration=turn)
    found = works(look.build())
    assert gathered(found) == expected
    assert all((each.rows, each.sliced, list(each.gathers.values())) == (ROWS, True, [3, 3]) for each in found)


def stays(look: LookBuilder) -> float:
    trace = look.build()
    rows = range(len(trace.looked_operators))
    assert len(Results(trace).get(ValueGraph).operators) == len(rows)
    return FilledRows(operators_of(trace), values_of(trace)).stays(list(rows))


@pytest.mark.parametrize(("filled", "expected"), [(1, 1.0), (2, 1.0), (3, 0.0)])
def test_a_product_of_batches_keeps_the_zeros_of_its_first_factor(filled: int, expected: float) -> None:
    """Up to half of four matrices are other than zero."""
    look = LookBuilder().tensor("g", shape=(filled, 6, 6)).tensor("w", shape=(4, 6, 6))
    arguments = f"[null, [4, 6, 6], 0, 0, {filled}, 1]"
    look.operator("aten::slice_backward", 1, reads="g", makes="d", shape=(4, 6, 6), arguments=arguments, backward=True)
    look.operator("aten::bmm", 1, reads="d w", makes="e", shape=(4, 6, 6), backward=True)
    look.operator("aten::neg", 1, reads="e", makes="f", shape=(4, 6, 6), backward=True)
    assert stays(look) == expected
