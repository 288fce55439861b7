"""Every rule over every recorded trace; what is known of those must come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.registry import Judgement, judge


def judged(trace: Any) -> Judgement:
    return judge(Results(trace), strict=True)


def found(trace: Any) -> set[str]:
    return {finding.rule for finding in judged(trace).findings}


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("v100-resnet50-workers0", "input_stall"),
        ("h100-owlv2-dataloader-stacks", "input_stall"),
        ("a100-copies-pageable", "pageable_h2d_copy"),
        ("a100-sam-many-syncs", "sync_in_step"),
        ("h100-transformer-tiny-kernels", "launch_bound"),
        ("v100-resnet50-workers0", "fp32_matmul"),
        ("h100-owlv2-dataloader-stacks", "eager_attention"),
        ("a100-sam-many-syncs", "float64_compute"),
        ("a100-sam-fewer-syncs", "unfused_pointwise"),
        ("mi300x-qwen-rocm", "unfused_pointwise"),
        ("mi300x-resnet-checkpointing", "nchw_convolution"),
        ("v100-ddp-memory-nccl", "gradients_zeroed_in_place"),
        ("a100-alexnet-sync-events", "cold_start_dominates"),
    ],
)
def test_the_known_fault_is_found(shared_trace: Callable[[str], Any], name: str, rule: str) -> None:
    assert rule in found(shared_trace(name))


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("v100-resnet50-workers4", "input_stall"),
        ("a100-copies-pinned", "pageable_h2d_copy"),
        ("a100-ddp-rank3-healthy", "pageable_h2d_copy"),
        ("a100-ddp-rank3-healthy", "launch_bound"),
        ("a100-ddp-rank3-healthy", "input_stall"),
        ("a100-sam-fewer-syncs", "fp32_matmul"),
        ("no-gpu-activity", "unfused_optimizer"),
        ("h100-owlv2-dataloader-stacks", "exposed_collective"),
        ("v100-ddp-memory-nccl", "fragmented_memory"),
        ("v100-ddp-memory-nccl", "memory_grows_per_step"),
        ("a100-sam-fewer-syncs", "float64_compute"),
        ("h100-owlv2-dataloader-stacks", "unaligned_gemm_shape"),
        ("torch-compile-triton", "unfused_pointwise"),
        ("mi300x-qwen-rocm", "eager_attention"),
        ("v100-resnet50-workers0", "conv_bias_before_norm"),
        ("v100-resnet50-workers0", "cold_start_dominates"),
    ],
)
def test_the_cured_twin_is_left_in_peace(shared_trace: Callable[[str], Any], name: str, rule: str) -> None:
    assert rule not in found(shared_trace(name))


def test_the_stall_has_the_size_that_the_trace_is_known_for(shared_trace: Callable[[str], Any]) -> None:
    """The four biggest gaps of that trace are `__next__`: 273 ms, of which the device works on in 60."""
    finding = next(
        each for each in judged(shared_trace("v100-resnet50-workers0")).findings if each.rule == "input_stall"
    )
    assert finding.evidence["wait_ms"] == pytest.approx(272.8, abs=0.5)
    assert finding.evidence["workers"] == 0
    assert len(finding.where.ranges_ns) == 5


@pytest.mark.parametrize("name", ["mi300x-ddp-resnet18", "mi300x-resnet-checkpointing", "mi300x-qwen-rocm"])
def test_rocm_hides_the_kind_of_memory(shared_trace: Callable[[str], Any], name: str) -> None:
    assert "pageable_h2d_copy" in {each.rule for each in judged(shared_trace(name)).abstained}


@pytest.mark.parametrize("name", ["no-gpu-activity", "cpu-only-rank34"])
def test_without_a_device_the_device_rules_abstain(shared_trace: Callable[[str], Any], name: str) -> None:
    assert {"launch_bound", "fp32_matmul", "small_batch"} <= {
        each.rule for each in judged(shared_trace(name)).abstained
    }


def test_every_rule_stands_every_trace(any_shared_trace: Any) -> None:
    trace = any_shared_trace
    judgement = judged(trace)
    said = [each.rule for each in (*judgement.findings, *judgement.abstained)]
    assert len(said) == len(set(said))
    for finding in judgement.findings:
        for words in (finding.title, finding.explanation, finding.change, finding.leave_it):
            assert words and not {"None", "nan", "unknown"} & set(words.replace(".", " ").split())
        for start, end in finding.where.ranges_ns:
            assert trace.span_start_ns <= start < end <= trace.span_end_ns + 1
        if finding.saving:
            assert 0 < finding.saving.share <= 1
            assert finding.saving.high_ns <= trace.span_ns
