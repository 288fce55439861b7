from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.cell_coverage import CellCoverage
from gpuprof.model.context import Cell, RunContext, Window
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MS, S = 1_000_000, 1_000_000_000


def coverage(lengths_s: list[float], *, recorded_s: float, cell_s: float) -> CellCoverage:
    """A cell that is recorded from its start, then goes on with these iterations."""
    lengths = (np.array(lengths_s) * S).astype(np.int64)
    starts = int(recorded_s * S) + (np.cumsum(lengths) - lengths)
    rows = Table(ITERATIONS, {"start_ns": starts, "duration_ns": lengths, "plain": np.ones(len(lengths), bool)})
    window = Window(cell_end_ns=int(cell_s * S), end_ns=int(recorded_s * S))
    tables = {**empty_tables(), "iterations": rows}
    return Results(Trace(Source("built"), (), tables, 0, 1, context=RunContext(window=window))).get(CellCoverage)


def test_two_of_seventeen_seconds_are_that_much() -> None:
    found = coverage([], recorded_s=2, cell_s=17)
    assert (found.recorded, found.alike) == (pytest.approx(2 / 17), pytest.approx(2 / 17))


def test_iterations_like_the_recorded_ones_count() -> None:
    found = coverage([1.0] * 10, recorded_s=2, cell_s=17)
    assert (found.recorded, found.alike) == (pytest.approx(2 / 17), pytest.approx(12 / 17))


@pytest.mark.parametrize(("longest", "alike"), [(3.0, 15 / 17), (3.1, 12 / 17)])
def test_one_with_an_evaluation_in_it_does_not(longest: float, alike: float) -> None:
    assert coverage([1.0] * 10 + [longest], recorded_s=2, cell_s=17).alike == pytest.approx(alike)


def test_a_trace_without_a_cell_is_all_there_is() -> None:
    found = Results(Trace(Source("built"), (), empty_tables(), 0, 1)).get(CellCoverage)
    assert (found.recorded, found.alike) == (1.0, 1.0)


def test_without_steps_the_loop_counts_in_which_the_stack_stood() -> None:
    source = "x = load()\npreds = [net(x) for _ in range(40)]\nplot(preds)"
    builder = TraceBuilder().context(cell=Cell(source=source), window=Window(cell_end_ns=6000 * MS, end_ns=2000 * MS))
    comprehension = ((CELL_FILE, "<module>", 2), (CELL_FILE, "<listcomp>", 2))
    for turn in range(80):
        name = ("aten::linear", "aten::relu", "aten::dropout", "aten::linear")[turn % 4]
        builder.operator(name, 25_000 * turn, 20_000).look(25_000 * turn + 1000, *comprehension)
    builder.stack(0, 3_000_000, *comprehension).stack(3_000_000, 3_000_000, (CELL_FILE, "<module>", 3))
    found = Results(builder.build()).get(CellCoverage)
    assert (found.recorded, found.alike) == (pytest.approx(2 / 6), pytest.approx(3 / 6))


@given(st.lists(st.floats(0.01, 9), max_size=20), st.floats(0.1, 50), st.floats(0.1, 50))
def test_shares_are_shares(lengths: list[float], recorded_s: float, cell_s: float) -> None:
    found = coverage(lengths, recorded_s=recorded_s, cell_s=cell_s)
    assert 0 < found.recorded <= found.alike <= 1
