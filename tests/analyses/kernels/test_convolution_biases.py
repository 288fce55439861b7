"""Which convolutions' biases a batch norm takes away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.convolution_biases import ConvolutionBiases
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def biases(trace: Trace) -> ConvolutionBiases:
    return Results(trace).get(ConvolutionBiases)


def _convolution(*after: str, bias: bool = True) -> Trace:
    builder = TraceBuilder().operator("aten::conv2d", 0, 30).operator("aten::convolution", 1, 28)
    builder.operator("aten::_convolution", 2, 26).operator("aten::cudnn_convolution", 3, 5)
    if bias:
        builder.operator("aten::add_", 10, 5).kernel("elementwise_kernel", 40, 5, launch_at_us=11, launch_for_us=1)
    for number, name in enumerate(after):
        builder.operator(name, 50 + 10 * number, 9).operator("aten::empty", 51 + 10 * number, 2)
    return builder.build()


@pytest.mark.parametrize(
    ("after", "count"),
    [
        (("aten::batch_norm",), 1),
        (("aten::add_", "aten::batch_norm"), 1),
        (("aten::relu", "aten::batch_norm"), 0),
        (("aten::group_norm",), 0),
        ((), 0),
    ],
)
def test_only_a_batch_norm_directly_behind_it_counts(after: tuple[str, ...], count: int) -> None:
    found = biases(_convolution(*after))
    assert (found.count, int(found.adding.sum())) == (count, count)


def test_without_a_bias_there_is_nothing_to_add() -> None:
    assert biases(_convolution("aten::batch_norm", bias=False)).count == 0


@pytest.mark.parametrize("name", ["v100-resnet50-workers0", "a100-alexnet-sync-events"])
def test_recorded_models_without_the_fault(shared_trace: Any, name: str) -> None:
    """ResNet has no biases, AlexNet has no batch norm."""
    assert biases(shared_trace(name)).count == 0


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert biases(empty_trace).count == 0


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    assert biases(trace).count >= 0
