"""Convolutions, layouts, shapes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.convolutions import Convolutions
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder

CONV, THERE, BACK = "implicit_convolve_sgemm<float>", "nchwToNhwcKernel<float>", "nhwcToNchwKernel<float>"


def convolutions(trace: Trace) -> Convolutions:
    return Results(trace).get(Convolutions)


@pytest.mark.parametrize(
    ("names", "given_nchw"), [((THERE, THERE, BACK), True), ((THERE, BACK, BACK), False), ((THERE, BACK), False)]
)
def test_the_directions_tell_which_layout_was_given(names: tuple[str, ...], given_nchw: bool) -> None:
    builder = TraceBuilder().kernel(CONV, 0, 5)
    for number, name in enumerate(names):
        builder.kernel(name, 10 + 10 * number, 5)
    found = convolutions(builder.build())
    assert (found.chosen.sum(), found.layout.sum(), found.nchw_given) == (1, len(names), given_nchw)


def test_a_transpose_counts_within_a_convolution_only() -> None:
    builder = TraceBuilder().operator("aten::miopen_convolution", 0, 20).operator("aten::copy_", 30, 20)
    builder.kernel("batched_transpose_16x32_half", 5, 5, launch_at_us=1)
    found = convolutions(builder.kernel("batched_transpose_16x32_half", 40, 5, launch_at_us=31).build())
    assert (found.layout.tolist(), found.nchw_given) == ([True, False], None)


@pytest.mark.parametrize(
    ("grids", "fixed"), [((8, 8, 8, 8), True), ((8, 8, 8, 5), True), ((8, 7, 6, 5), False), ((8, 8), None)]
)
def test_the_grids_tell_whether_shapes_are_fixed(grids: tuple[int, ...], fixed: bool | None) -> None:
    builder = TraceBuilder()
    for number, blocks in enumerate(grids):
        builder.step(100 * number, 100).kernel(CONV, 100 * number + 10, 50, launch_at_us=100 * number, blocks=blocks)
    assert convolutions(builder.build()).fixed_shapes is fixed


def test_unknown_grids_tell_nothing() -> None:
    builder = TraceBuilder()
    for at in range(0, 500, 100):
        builder.step(at, 100).kernel(CONV, at + 10, 50, launch_at_us=at)
    assert convolutions(builder.build()).fixed_shapes is None


def test_the_recorded_resnet_has_fixed_shapes(shared_trace: Any) -> None:
    found = convolutions(shared_trace("v100-resnet50-workers0"))
    assert found.fixed_shapes is True
    assert found.chosen.sum() == 6 * 252


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = convolutions(trace)
    assert len(found.chosen) == len(found.layout)
