"""Calls of a library that call back: how long they take, what is the library's, and how often that was seen."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.library_callbacks import LibraryCallback, LibraryCallbacks
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.support.trace_builder import CELL_FILE, TraceBuilder

CALLER = (CELL_FILE, "<module>", 4)
MAP, INNER = library("pandas/core/series.py", "Series.map"), library("pandas/core/algorithms.py", "map_array")
DOUBLED = (CELL_FILE, "doubled", 2)
OTHER = (CELL_FILE, "<module>", 5)
Frame = tuple[str, str, int]


def found(*stretches: tuple[float, tuple[Frame, ...]], operands: Operands | None = None) -> list[LibraryCallback]:
    """Of stretches that follow each other: µs and the stack."""
    builder, at = TraceBuilder(), 0.0
    for length, frames in stretches:
        builder.stack(at, length, *frames)
        at += length
    builder.context(cell=Cell(source="", filename=CELL_FILE, execution_count=3), operands=operands)
    return list(Results(builder.build()).get(LibraryCallbacks).callbacks)


def test_time_in_the_callback_and_in_the_library_around_it() -> None:
    seen = Operand(file=CELL_FILE, first=1, last=3, name="v", kind="builtins.str")
    (call,) = found(
        (30, (CALLER, MAP, INNER, DOUBLED)),
        (20, (CALLER, MAP, INNER)),
        (50, (CALLER, MAP, INNER, DOUBLED, library("re/__init__.py", "sub"))),
        (100, (OTHER, MODEL)),
        operands=Operands(looks=1, seen=(seen,)),
    )
    assert (call.line, call.function, call.is_cell, call.execution_count) == (4, "<module>", True, 3)
    assert call.call == "pandas.core.series.Series.map"
    assert call.below == {"pandas.core.algorithms.map_array": 1.0, "pandas.core.series.Series.map": 1.0}
    assert (call.callback, call.callback_line, call.operands) == ("doubled", 2, (seen,))
    assert (call.ns, call.share, call.library_share, call.stays) == (100_000, 0.5, 0.2, 2)
    assert call.cell_lines == (4,)
    assert (call.starts_ns.tolist(), call.ends_ns.tolist()) == ([0, 30_000, 50_000], [30_000, 50_000, 100_000])


def test_what_the_library_does_before_and_after_is_none_of_it() -> None:
    (call,) = found((900, (CALLER, MAP)), (50, (CALLER, MAP, DOUBLED)), (50, (CALLER, MAP)))
    assert (call.ns, call.library_share, call.stays) == (50_000, 0.0, 1)


def test_the_loop_of_the_library_around_it_is_part_of_it() -> None:
    """Also in a moment, and in a call, in which the callback itself was not seen."""
    loop = (CALLER, MAP, INNER)
    (call,) = found(
        (100, (CALLER, MAP)), (300, loop), (50, (*loop, DOUBLED)), (150, loop), (100, (OTHER, MODEL)), (200, loop)
    )
    assert (call.ns, call.stays) == (700_000, 1)
    assert call.library_share == pytest.approx(650 / 700)


def test_calls_apart_from_each_other_are_not_one() -> None:
    once = (CALLER, MAP, DOUBLED)
    (call,) = found((50, once), (900, (OTHER, MODEL)), (50, once))
    assert (call.ns, call.library_share, call.stays) == (100_000, 0.0, 2)


def test_which_part_of_a_call_is_below_which_function() -> None:
    (call,) = found((60, (CALLER, MAP, INNER, DOUBLED)), (10, (CALLER, MAP)), (30, (CALLER, MAP, DOUBLED)))
    assert call.below == pytest.approx({"pandas.core.algorithms.map_array": 0.6, "pandas.core.series.Series.map": 1.0})


def test_decorators_do_not_give_a_call_its_name() -> None:
    wrapper = library("sklearn/utils/_param_validation.py", "validate_params.<locals>.wrapper")
    pairs = library("sklearn/metrics/pairwise.py", "pairwise_distances")
    (call,) = found((100, (CALLER, wrapper, pairs, DOUBLED)))
    assert call.call == "sklearn.metrics.pairwise.pairwise_distances"


def test_torch_calls_back_as_well_and_is_none_of_these() -> None:
    assert found((100, (CALLER, MODEL, (CELL_FILE, "Net.forward", 9)))) == []
    (call,) = found((60, (CALLER, MAP, DOUBLED, MODEL)), (40, (CALLER, MAP, DOUBLED)))
    assert (call.torch_share, call.inner_share) == (0.6, 0.0)
    (call,) = found(
        (60, (CALLER, MAP, DOUBLED, library("pandas/core/series.py", "Series.get"))), (40, (CALLER, MAP, DOUBLED))
    )
    assert (call.torch_share, call.inner_share) == (0.0, 0.6)


def test_one_within_another_counts_in_both() -> None:
    outer = found((100, (CALLER, MAP, DOUBLED, library("numpy/lib/shape_base.py", "apply_along_axis"), OTHER)))
    assert {each.callback for each in outer} == {"doubled", "<module>"} and all(each.share == 1 for each in outer)


def test_a_generator_and_a_comprehension_are_gone_through() -> None:
    assert found((100, (CALLER, MAP, (CELL_FILE, "f.<locals>.<genexpr>", 4)))) == []


def test_without_stacks_nothing_is_known() -> None:
    results = Results(TraceBuilder().operator("aten::mm", 0, 10).build())
    assert results.get(LibraryCallbacks).callbacks == () and results.get(LibraryCallbacks).total_ns == 0
