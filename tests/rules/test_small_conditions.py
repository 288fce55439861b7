"""What decides between two answers of a rule, one step to either side."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.eager_attention import AttentionBlock
from gpuprof.analyses.training.gradient_zeroing import GradientZeroing
from gpuprof.analyses.transfers.pinned_bandwidth import pinned_bytes_per_s
from gpuprof.model.context import Environment
from gpuprof.model.kinds import CallKind
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.kernels.eager_attention import _scores
from gpuprof.rules.registry import rule
from gpuprof.rules.saving.scope import Scope
from gpuprof.rules.training.gradients_zeroed_in_place import _on_host
from tests.rules.cases.device.cpu_build_or_cpu_tensors import _THERE
from tests.support.trace_builder import TraceBuilder

MIB = 1 << 20


@pytest.mark.parametrize(("bursts", "found"), [(1, True), (4, True), (5, False)])
def test_a_cache_that_is_emptied_frees_in_few_places_of_a_step(bursts: int, found: bool) -> None:
    """Ten steps of 1 ms that free ten times; launches lie between the bursts."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::mm", at, 100).kernel("gemm", at + 10, 50, launch_at_us=at + 2)
        for number in range(10):
            begin = at + 200 + 40 * number
            builder.call("cudaFree", begin, 30, kind=CallKind.FREE)
            if number < bursts - 1:
                builder.kernel("gemm", begin + 36, 1, launch_at_us=begin + 31, launch_for_us=4)
    answer = rule("empty_cache_in_step").check(Results(builder.operator("aten::mm", 9990, 10).build()))
    assert isinstance(answer, Finding) is found


def test_the_operator_that_takes_longest_is_named() -> None:
    builder = TraceBuilder().operator("aten::add", 9_990, 10)
    for at in range(0, 5000, 500):
        builder.operator("aten::addmm", at, 240).operator("aten::mkldnn_convolution", at + 245, 250)
    trace = builder.context(sampling=_THERE, environment=Environment(cuda_build="12.8")).build()
    answer = rule("cpu_build_or_cpu_tensors").check(Results(trace))
    assert isinstance(answer, Finding)
    assert "aten::mkldnn_convolution (10×, 2.50 ms)" in answer.explanation


def test_zeroing_and_adding_are_told_apart() -> None:
    """One gradient is zeroed at 10 µs, in a range of 20; backward adds to it at 61."""
    builder = TraceBuilder().step(0, 100).span("Optimizer.zero_grad#SGD.zero_grad", 10, 20)
    builder.operator("aten::zero_", 12, 5).operator("torch::autograd::AccumulateGrad", 60, 10)
    results = Results(builder.operator("aten::add_", 61, 6).build())
    zeroing, adding = _on_host(results.get(GradientZeroing), Scope.of(results))
    assert [np.stack(each).tolist() for each in (zeroing, adding)] == [[[10_000], [30_000]], [[61_000], [67_000]]]


@pytest.mark.parametrize(("shape", "size", "told"), [((8, 8), 256, True), ((8, 8), None, False), (None, 9, False)])
def test_scores_of_attention_are_told_with_their_size(
    shape: tuple[int, ...] | None, size: int | None, told: bool
) -> None:
    said = _scores(AttentionBlock(0, 1, shape, size, fallback=False))
    assert "8 × 8, are 256 B" in said if told else said == ""


@pytest.mark.parametrize(
    ("size", "memory", "reference"),
    [(MIB, "pinned", MIB / 100e-6), (MIB - 1, "pinned", 25e9), (MIB, "pageable", 25e9), (MIB - 1, "pageable", 25e9)],
)
def test_the_bandwidth_that_pinned_copies_reach(size: int, memory: str, reference: float) -> None:
    """Of copies of a MiB and more; else what the link gives."""
    builder = TraceBuilder().device(0, link_bytes_per_s=25e9).copy("h2d", 0, 100, bytes=size, host_memory=memory)
    assert pinned_bytes_per_s(Results(builder.build())) == pytest.approx(reference)
