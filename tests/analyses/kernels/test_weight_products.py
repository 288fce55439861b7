"""Products of few rows."""

from __future__ import annotations

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.weight_products import WeightProducts
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def products(trace: Trace) -> WeightProducts:
    return Results(trace).get(WeightProducts)


def _product(name: str, dims: str | None, types: str = '["float", "float", "float"]') -> Trace:
    builder = TraceBuilder().operator(name, 0, 20, dims=dims, types=types)
    return (
        builder.kernel("sgemm", 5, 100, launch_at_us=1).kernel("splitK_reduce_kernel", 200, 100, launch_at_us=8).build()
    )


@pytest.mark.parametrize(
    ("name", "dims", "rows"),
    [
        ("aten::mm", "[[4, 100], [100, 500]]", 4),
        ("aten::addmm", "[[500], [16, 100], [100, 500], [], []]", 16),
        ("aten::mv", "[[500, 100], [100]]", 1),
        ("aten::addmv", "[[500], [500, 100], [100]]", 1),
    ],
)
def test_rows_and_weights_of_each_operator(name: str, dims: str, rows: int) -> None:
    found = products(_product(name, dims))
    assert (found.count, found.rows, found.bytes, found.element_bytes) == (1, rows, 4 * 100 * 500, 4)
    assert found.chosen.tolist() == [True, True]
    assert found.bytes_per_s == pytest.approx(200_000 / 200e-6)


@pytest.mark.parametrize(
    ("name", "dims"), [("aten::mm", "[[17, 100], [100, 500]]"), ("aten::bmm", "[[1, 1, 9], [1, 9, 9]]")]
)
def test_many_rows_and_products_without_weights_do_not_count(name: str, dims: str) -> None:
    assert products(_product(name, dims)).count == 0


def test_without_shapes_nothing_is_known() -> None:
    found = products(_product("aten::mm", None))
    assert (found.shapes_known, found.count, found.rows) == (False, 0, None)


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert products(empty_trace).count == 0


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    assert products(trace).bytes >= 0
