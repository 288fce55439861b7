"""The tables of a close look as the analysis of what is read takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.analyses.demand.geometry import Geometry, contiguous
from gpuprof.analyses.demand.looked import (
    LookedOperator,
    Stored,
    Taken,
    _arguments,
    _geometry,
    _stored,
    operators_of,
    values_of,
)
from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder


def looked() -> Trace:
    """Two operators: `y` of `x`, which is kept, and `z` of both, of which a part is known."""
    look = LookBuilder().tensor("x", elements=6, kind=ValueKind.PARAMETER)
    look.operator("aten::relu", 10, reads="x", makes="y", elements=1)
    look.part("row", "x", shape=(2,), strides=(3,), offset=1)
    return look.operator("aten::add", 10, reads="row y", makes="z").free("y").build()


def cut(trace: Trace, table: str, rows: int) -> Trace:
    return replace(trace, tables={**trace.tables, table: trace.tables[table].take(np.arange(rows))})


def read(operator: LookedOperator) -> list[tuple[int, int]]:
    return [(each.value, each.elements) for each in operator.reads]


def test_what_each_operator_reads_and_makes() -> None:
    relu, add = operators_of(looked())
    assert (relu.name, add.name) == ("aten::relu", "aten::add")
    assert read(relu) == [(0, 6)] and [each.value for each in relu.results] == [1]
    assert read(add) == [(0, 2), (1, 1)] and [each.value for each in add.results] == [2]
    assert add.reads[0] == Taken(0, 2, Geometry((2,), (3,), 1))


def test_what_each_value_is() -> None:
    x, y, z = values_of(looked())
    assert [each.made_by for each in (x, y, z)] == [-1, 0, 1]
    assert [each.kept for each in (x, y, z)] == [True, False, True]
    assert (x.elements, x.kind, x.read_outside) == (6, ValueKind.PARAMETER, False)


def test_a_value_behind_the_end_of_a_cut_table_is_none() -> None:
    """GIVEN a look that was cut off WHEN the values end before what operators read THEN those are of no value."""
    trace = cut(looked(), "looked_values", 1)
    relu, add = operators_of(trace)
    assert read(relu) == [(0, 6)] and [each.value for each in relu.results] == [-1]
    assert [each.value for each in add.reads] == [0, -1]


def test_an_operator_behind_the_end_of_a_cut_table_made_nothing() -> None:
    trace = cut(looked(), "looked_operators", 1)
    assert [each.made_by for each in values_of(trace)] == [-1, 0, -1]
    assert len(operators_of(trace)) == 1


@pytest.mark.parametrize(
    ("shape", "text", "expected"),
    [
        ("[32, 6]", "0 (6, 1)", contiguous((32, 6))),
        ("[32, 6]", "128 (6, 1)", Geometry((32, 6), (6, 1), 128)),
        ("[6, 32]", "0 (1, 6)", Geometry((6, 32), (1, 6))),
        ("[]", "0 ()", contiguous(())),
        ("[5]", "0 (1,)", contiguous((5,))),
        ("[32, 6]", "0 (6)", None),
        ("[32, x]", "0 (6, 1)", None),
        ("[32, 6]", "0 (6, x)", None),
        ("[32, 6]", "(6, 1)", None),
        ("[32, 6]", "x (6, 1)", None),
    ],
)
def test_places_as_they_are_written(shape: str, text: str, expected: Geometry | None) -> None:
    assert _geometry(shape, text) == expected


@pytest.mark.parametrize(("text", "expected"), [("[1, null]", [1, None]), ("{}", None), ("3", None), ("[1", None)])
def test_arguments_as_they_are_written(text: str, expected: object) -> None:
    assert _arguments(text) == expected


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("sparse_coo [6000, 500] 126000", Stored((6000, 500), 126_000, True)),
        ("sparse_csr [4, 4] 0", Stored((4, 4), 0, False)),
        ("sparse_bsr [4, 4] 1", None),
        ("sparse_coo [4, x] 1", None),
        ("sparse_coo [4, 4] many", None),
        ("0 (4, 1)", None),
        ("", None),
    ],
)
def test_what_is_known_of_a_sparse_tensor(text: str, stored: Stored | None) -> None:
    assert _stored(text) == stored
