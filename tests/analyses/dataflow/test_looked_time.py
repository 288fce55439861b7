"""What operators of a look stand for in the cell: by the sampled time of their lines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.model.context import Cell
from gpuprof.model.look import LookPart
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import line as cell_line
from tests.analyses.accounts.test_sample_phases import libraries
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder

__all__ = ["libraries"]  # a fixture

MS = 1_000_000


def seen(lines_ms: dict[int, float], operators: list[tuple[int, float]], **facts: object) -> Trace:
    """A cell with that much time sampled at its lines, and a look at operators `(line, µs)`."""
    builder = TraceBuilder()
    at = 0.0
    for line, ms in lines_ms.items():
        builder.stack(at, ms * 1000, cell_line(line))
        at += ms * 1000
    look = LookBuilder(builder).tensor("x")
    for number, (line, us) in enumerate(operators):
        look.operator("aten::mul", us, reads="x", makes=f"y{number}", line=line, iteration=0)
    return look.build(**facts)


def time_of(trace: Trace) -> LookedTime:
    return Results(trace).get(LookedTime)


def test_operators_stand_for_the_time_of_their_lines() -> None:
    found = time_of(seen({1: 300, 2: 100, 9: 600}, [(1, 60), (1, 240), (2, 100)]))
    assert found.known and found.total_ns == 1000 * MS
    assert found.line_ns.tolist() == [300 * MS, 100 * MS]
    assert found.cell_ns == pytest.approx(np.array([60, 240, 100]) * MS)


def test_a_line_that_does_much_else_counts_with_its_operators_alone() -> None:
    """Two lines go round 1,000 times; the third takes 100 times as long as its operators would."""
    found = time_of(seen({1: 300, 2: 100, 3: 500}, [(1, 300), (2, 100), (3, 5)]))
    assert found.cell_ns == pytest.approx(np.array([300, 100, 7.5]) * MS)


def test_where_a_part_of_an_iteration_was_seen_each_line_has_its_own_ratio() -> None:
    found = time_of(seen({1: 300, 3: 500}, [(1, 300), (3, 5)], operators_share=None, ended_by="seconds"))
    assert found.cell_ns == pytest.approx(np.array([300, 500]) * MS)


def test_time_within_a_library_without_torch_is_no_work_of_operators(libraries: None) -> None:
    """A line reads a tensor and gives it to scikit-learn, which takes nearly all of its time; another calls torch."""
    builder = TraceBuilder()
    builder.stack(0, 10_000, cell_line(7)).stack(10_000, 490_000, cell_line(7), ("/lib/sklearn/metrics.py", "auc", 9))
    builder.stack(500_000, 500_000, cell_line(8), ("/lib/torch/functional.py", "einsum", 3))
    look = LookBuilder(builder).tensor("x")
    for number, (line, us) in enumerate(((7, 10), (8, 500))):
        look.operator("aten::mul", us, reads="x", makes=f"y{number}", line=line, iteration=0)
    found = time_of(look.build(operators_share=None, ended_by="seconds"))
    assert found.line_ns.tolist() == [10 * MS, 500 * MS]
    assert found.cell_ns == pytest.approx(np.array([10, 500]) * MS)


def test_some_rows_may_stand_for_all_of_their_lines() -> None:
    trace = seen({1: 300, 2: 100}, [(1, 100), (1, 200), (2, 100)])
    found = time_of(trace)
    among = np.array([False, True, True])
    assert found.of_rows(np.array([1]), among) == pytest.approx((300 * MS, 300 * MS))
    assert found.of_rows(np.array([1, 2]), among) == pytest.approx((400 * MS, 400 * MS))
    assert found.of_rows(np.array([1]), np.ones(3, bool)) == pytest.approx((200 * MS, 300 * MS))


def of_two_looks() -> Trace:
    """Line 1 is of the first look, line 2 of the second one, line 3 of both: 10 and 40 times as often."""
    trace = seen({1: 10, 2: 40, 3: 50}, [(1, 1000), (3, 1000), (2, 1000), (3, 1000)])
    look = trace.context.look
    assert look is not None
    tables = {**trace.tables, "looked_operators": trace.looked_operators.replace(look=[0, 0, 1, 1])}
    parts = (LookPart(iterations=1), LookPart(iterations=1, first_iteration=1))
    return _with(trace, tables, parts)


def _with(trace: Trace, tables: Mapping[str, Table], parts: tuple[LookPart, ...]) -> Trace:
    look = msgspec.structs.replace(trace.context.look, parts=parts)
    context = msgspec.structs.replace(trace.context, look=look)
    return dataclasses.replace(trace, tables=tables, context=context)


def test_a_line_that_two_looks_saw_is_divided_among_them() -> None:
    trace = of_two_looks()
    assert time_of(trace).cell_ns == pytest.approx(np.array([10, 10, 40, 40]) * MS)


def test_how_often_a_look_is_repeated_is_told_by_the_lines_that_it_alone_saw() -> None:
    """However long the line is that both saw: 30 of its 150 ms are of the first look."""
    trace = seen({1: 10, 2: 40, 3: 150}, [(1, 1000), (3, 3000), (2, 1000), (3, 3000)])
    tables = {**trace.tables, "looked_operators": trace.looked_operators.replace(look=[0, 0, 1, 1])}
    parts = (LookPart(iterations=1), LookPart(iterations=1, first_iteration=1))
    assert time_of(_with(trace, tables, parts)).cell_ns == pytest.approx(np.array([10, 30, 40, 120]) * MS)


MODULE = "/home/me/net.py"


def test_operators_of_a_module_stand_for_its_lines_and_not_for_those_of_the_cell() -> None:
    builder = (
        TraceBuilder().stack(0, 300_000, cell_line(4), (MODULE, "forward", 2)).stack(300_000, 500_000, cell_line(2))
    )
    look = LookBuilder(builder, file=MODULE).tensor("x")
    found = time_of(look.operator("aten::mul", 100, reads="x", makes="y", line=2, iteration=0).build())
    assert found.line_ns.tolist() == [300 * MS] and found.cell_ns.tolist() == [300 * MS]


def test_a_cell_may_be_named_by_its_file() -> None:
    builder = TraceBuilder().stack(0, 300_000, cell_line(2)).context(cell=Cell(source="", filename=CELL_FILE))
    look = LookBuilder(builder, file=CELL_FILE).tensor("x")
    found = time_of(look.operator("aten::mul", 100, reads="x", makes="y", line=2, iteration=0).build())
    assert found.line_ns.tolist() == [300 * MS]


def test_times_of_two_looks_are_in_proportion_to_the_cell() -> None:
    trace = of_two_looks()
    assert weighed_operators(trace, Results(trace))["duration_ns"].tolist() == [MS, MS, 4 * MS, 4 * MS]


def test_without_samples_nothing_is_known() -> None:
    trace = seen({}, [(1, 60)])
    found = time_of(trace)
    assert not found.known and not len(found.cell_ns) and found.weight.tolist() == [1.0]


def test_a_line_that_was_never_sampled_stands_for_nothing() -> None:
    found = time_of(seen({1: 300}, [(1, 300), (2, 1)]))
    assert found.cell_ns == pytest.approx(np.array([300, 0]) * MS)


def called_from(shares_ms: dict[tuple[int, ...], float], seen_from: dict[tuple[int, ...], float]) -> Trace:
    """Line 5, in a function, with so much time sampled and so many µs of operators by the line that called it."""
    builder, at = TraceBuilder(), 0.0
    for (own, *callers), ms in shares_ms.items():
        builder.stack(at, ms * 1000, *(cell_line(each) for each in reversed(callers)), cell_line(own, "f"))
        at += ms * 1000
    look = LookBuilder(builder).tensor("x")
    for number, ((own, *callers), us) in enumerate(seen_from.items()):
        given = {"makes": f"y{number}", "line": own, "by_lines": tuple(callers), "iteration": 0}
        look.operator("aten::mul", us, reads="x", **given)
    return look.build()


def test_operators_stand_for_their_line_as_it_was_reached() -> None:
    """Line 5 takes most of its time where line 8 calls it, which the look did not see."""
    found = time_of(called_from({(5, 7): 100, (5, 8): 900}, {(5, 7): 10}))
    assert found.cell_ns == pytest.approx(np.array([100]) * MS)
    assert found.line_ns.tolist() == [1000 * MS, 0]
    assert found.of_rows(np.array([0]), np.ones(1, bool)) == pytest.approx((100 * MS, 100 * MS))


def test_each_way_to_a_line_has_its_own_time() -> None:
    found = time_of(called_from({(5, 7): 100, (5, 8): 300}, {(5, 7): 10, (5, 8): 30}))
    assert found.cell_ns == pytest.approx(np.array([100, 300]) * MS)


def test_a_line_counts_as_one_where_no_sample_shows_how_it_was_reached() -> None:
    found = time_of(called_from({(5, 9): 400}, {(5, 7): 10, (5, 8): 30}))
    assert found.cell_ns == pytest.approx(np.array([100, 300]) * MS)
