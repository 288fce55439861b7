"""Whether every step launches the same."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.step_likeness import StepLikeness
from tests.support.trace_builder import TraceBuilder


def steps(blocks: list[int]) -> TraceBuilder:
    builder = TraceBuilder()
    for number, each in enumerate(blocks):
        builder.step(100 * number, 100).kernel("gemm", 100 * number + 10, 50, blocks=each)
    return builder


@pytest.mark.parametrize(
    ("blocks", "alike"),
    [
        ([4, 4, 4, 4, 2], True),
        ([8, 4, 4, 4, 2], True),
        ([1, 2, 3, 4, 4], False),
        ([4, 4, 2, 2], False),
        ([4, 4, 4], False),
        ([-1] * 5, False),
        ([4, 4, 4, 4, -1], False),
    ],
)
def test_steps_are_alike_by_kernels_and_grids(blocks: list[int], alike: bool) -> None:
    assert Results(steps(blocks).build()).get(StepLikeness).alike is alike


def test_one_more_kernel_is_another_step() -> None:
    builder = steps([4] * 5)
    for at in (70, 170, 270):
        builder.kernel("relu", at, 5, blocks=at)
    assert not Results(builder.build()).get(StepLikeness).alike
    assert not Results(TraceBuilder().operator("aten::mm", 0, 1).build()).get(StepLikeness).alike
