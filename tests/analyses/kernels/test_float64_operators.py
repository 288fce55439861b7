"""Operators on the CPU that work in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.float64_operators import Float64Operators
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

DOUBLE, SINGLE = '["double", "double"]', '["float", "float"]'


def double(builder: TraceBuilder) -> Float64Operators:
    return Results(builder.build()).get(Float64Operators)


def one(name: str = "aten::mm", dims: str = "[[64, 64], [64, 64]]", types: str | None = DOUBLE) -> Float64Operators:
    return double(TraceBuilder().operator(name, 0, 100, dims=dims, types=types))


def test_the_own_time_of_each_counts_once() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 100, dims="[[64, 64], [64, 64]]", types=DOUBLE)
    builder.operator("aten::addmm", 10, 80, dims="[[64], [64, 64], [64, 64]]", types='["double", "double", "double"]')
    builder.operator("aten::tanh", 200, 30, dims="[[64, 64]]", types='["double"]')
    found = double(builder)
    assert found.self_ns.tolist() == [20_000, 80_000, 30_000]
    assert found.costliest(np.array([True, True, True]))[:2] == [("aten::addmm", 80_000), ("aten::tanh", 30_000)]
    assert found.during.total_ns == 130_000


@pytest.mark.parametrize(
    ("name", "dims", "types"),
    [
        ("aten::mm", "[[64, 64], [64, 64]]", SINGLE),
        ("aten::add_", "[[], []]", DOUBLE),
        ("aten::add", "[[999], []]", DOUBLE),
        ("aten::mul", "[[4096], []]", '["float", "double"]'),
        ("aten::copy_", "[[4096], [4096]]", '["float", "double"]'),
        ("aten::_to_copy", "[[4096]]", '["double"]'),
        ("AddmmBackward0", "[[4096]]", '["double"]'),
        ("aten::mm", "[[64, 64], [64, 64]]", None),
    ],
    ids=["float32", "one number", "few numbers", "a number among floats", "copy", "cast", "a node", "no types"],
)
def test_other_work_is_none_of_it(name: str, dims: str, types: str | None) -> None:
    found = one(name, dims, types)
    assert (len(found.operators), found.types) == (0, types is not None)


def test_one_large_tensor_of_double_is_enough() -> None:
    assert len(one("aten::add", "[[4096], [4096]]", '["float", "double"]').operators) == 1


def test_convolutions_and_solvers_are_told() -> None:
    assert one("aten::_slow_conv2d_forward").convolution.tolist() == [True]
    assert not one().solvers and one("aten::linalg_solve_triangular").solvers and one("aten::_linalg_eigh").solvers
    assert not one("aten::linalg_vector_norm").solvers


def test_backward_on_a_thread_of_its_own_counts_and_other_threads_do_not() -> None:
    builder = TraceBuilder().operator("aten::mean", 0, 10)
    builder.thread("autograd").operator("MmBackward0", 20, 100)
    builder.operator("aten::mm", 30, 50, dims="[[64, 64], [64, 64]]", types=DOUBLE)
    builder.thread("loading").operator("aten::stack", 20, 60, dims="[[64, 64]]", types=DOUBLE)
    assert double(builder).self_ns.tolist() == [50_000]


def test_every_trace_is_stood(any_shared_trace: Any, empty_trace: Trace) -> None:
    for trace in (any_shared_trace, empty_trace):
        found = Results(trace).get(Float64Operators)
        assert found.operators.shape == found.self_ns.shape == found.convolution.shape
