"""Elementwise kernels in a row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.pointwise_chains import PointwiseChains
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder

POINTWISE, REDUCTION, PRODUCT = "vectorized_elementwise_kernel<4>", "reduce_kernel<512, 1>", "volta_sgemm_64x64_nn"


def chains(trace: Trace) -> PointwiseChains:
    return Results(trace).get(PointwiseChains)


def _launched(builder: TraceBuilder, at: float, *kernels: str, stream: int = 7, **lengths: float) -> TraceBuilder:
    for number, name in enumerate(kernels):
        start = at + 10 * number
        builder.operator(f"aten::{number}", start, 9)
        builder.kernel(name, start + 2, lengths.get(f"k{number}", 2), launch_at_us=start, stream=stream)
    return builder


def test_three_in_a_row_make_a_chain_and_two_do_not() -> None:
    trace = _launched(TraceBuilder(), 0, *[POINTWISE] * 3, PRODUCT, *[POINTWISE] * 2, k1=5).build()
    found = chains(trace)
    assert found.chain.tolist() == [0, 0, 0, -1, -1, -1]
    assert found.longest.tolist() == [False, True, False, False, False, False]
    assert (found.count, found.operators) == (1, ("aten::0", "aten::1", "aten::2"))


def test_a_small_reduction_between_them_does_not_break_it() -> None:
    trace = _launched(TraceBuilder(), 0, POINTWISE, REDUCTION, POINTWISE, POINTWISE).build()
    assert chains(trace).chain.tolist() == [0, -1, 0, 0]


@pytest.mark.parametrize(
    ("dims", "one_chain"),
    [
        # as many elements; broadcast to the others' shape; other elements; not known
        ("[[256, 64]]", True),
        ("[[16384], []]", True),
        ("[[256, 1], []]", True),
        ("[[7, 64]]", False),
        (None, True),
    ],
)
def test_kernels_over_other_elements_do_not_go_on_with_a_chain(dims: str | None, one_chain: bool) -> None:
    builder = TraceBuilder()
    for number, shape in enumerate(("[[256, 64]]", "[[256, 64], [64]]", dims, "[[256, 64]]")):
        builder.operator("aten::add", 10 * number, 9, dims=shape)
        builder.kernel(POINTWISE, 10 * number + 2, 2, launch_at_us=10 * number)
    assert chains(builder.build()).count == int(one_chain)


def test_after_a_reduction_the_elements_may_be_fewer() -> None:
    builder = TraceBuilder()
    kernels = ((POINTWISE, "[[256, 64]]"), (REDUCTION, "[[256, 64]]"), (POINTWISE, "[[256]]"), (POINTWISE, "[[256]]"))
    for number, (name, shape) in enumerate(kernels):
        builder.operator("aten::add", 10 * number, 9, dims=shape)
        builder.kernel(name, 10 * number + 2, 2, launch_at_us=10 * number)
    assert chains(builder.build()).chain.tolist() == [0, -1, 0, 0]


def test_streams_are_chains_of_their_own() -> None:
    builder = _launched(TraceBuilder(), 0, POINTWISE, POINTWISE, stream=7)
    assert chains(_launched(builder, 100, POINTWISE, POINTWISE, stream=8).build()).count == 0


def test_what_the_optimizer_or_a_compiler_made_is_left_out() -> None:
    builder = _launched(TraceBuilder(), 0, *["triton_poi_fused_elementwise_kernel"] * 3)
    builder.optimizer_step("SGD", 100, 50)
    assert chains(_launched(builder, 100, *[POINTWISE] * 4).build()).count == 0


def test_norms_by_hand_are_found_in_the_recorded_runs(shared_trace: Any) -> None:
    found = chains(shared_trace("mi300x-qwen-rocm"))
    assert {"aten::pow", "aten::rsqrt"} <= set(found.operators)


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = chains(trace)
    assert found.longest.sum() == found.count
    assert not (found.longest & ~found.chosen).any()
