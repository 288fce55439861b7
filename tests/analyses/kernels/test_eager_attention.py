"""Finding attention that is written out."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.eager_attention import AttentionBlocks
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def attention(trace: Trace) -> AttentionBlocks:
    return Results(trace).get(AttentionBlocks)


def _sandwich(builder: TraceBuilder, at: float, *middle: str, scores: str | None = None) -> TraceBuilder:
    builder.operator("aten::bmm", at, 5, dims=None if scores is None else "[[4, 8, 2], [4, 2, 8]]")
    builder.kernel("gemm", at + 1, 2, launch_at_us=at + 1, launch_for_us=1)
    for number, name in enumerate(middle):
        builder.operator(name, at + 6 + 3 * number, 2, dims=scores)
        builder.kernel("k", at + 6 + 3 * number, 1, launch_at_us=at + 6 + 3 * number, launch_for_us=1)
    return builder.operator("aten::bmm", at + 30, 5, dims=None if scores is None else "[[4, 8, 8], [4, 8, 2]]")


def test_product_softmax_product_is_attention_with_what_stands_between() -> None:
    trace = _sandwich(TraceBuilder(), 0, "aten::mul", "aten::_softmax", "aten::native_dropout").build()
    found = attention(trace)
    assert [(block.start_ns, block.end_ns, block.scores) for block in found.blocks] == [(0, 35_000, None)]
    assert (found.chosen.sum(), found.products.sum()) == (4, 1)


def test_a_linear_layer_between_the_products_is_none() -> None:
    assert attention(_sandwich(TraceBuilder(), 0, "aten::_softmax", "aten::addmm").build()).blocks == ()


def test_scores_that_the_products_did_not_make_are_none() -> None:
    assert len(attention(_sandwich(TraceBuilder(), 0, "aten::_softmax", scores="[[2, 2, 8, 8]]").build()).blocks) == 1
    assert attention(_sandwich(TraceBuilder(), 0, "aten::_softmax", scores="[[4, 3]]").build()).blocks == ()


def test_the_fallback_of_torch_itself_is_told_apart() -> None:
    builder = TraceBuilder().operator("aten::_scaled_dot_product_attention_math", 0, 40)
    assert [block.fallback for block in attention(_sandwich(builder, 1, "aten::_softmax").build()).blocks] == [True]


def test_the_gradient_belongs_to_it() -> None:
    """GIVEN one attention with autograd's numbers 3 to 5, and gradients of 4 and of 9."""
    builder = TraceBuilder()
    for number, name in enumerate(("aten::bmm", "aten::_softmax", "aten::bmm")):
        builder.operator(name, 10 * number, 5, sequence=3 + number)
    builder.thread("autograd")
    for at, sequence in ((100, 9), (110, 4)):
        builder.operator("autograd::engine::evaluate_function: SoftmaxBackward0", at, 5, sequence=sequence)
        builder.kernel("softmax_backward", at + 10, 3, launch_at_us=at + 1, launch_for_us=1)
    assert attention(builder.build()).chosen.tolist() == [False, True]


def test_the_recorded_detector_attends_eagerly(shared_trace: Any) -> None:
    # 24 + 12 layers for each of five images, the larger ones over 5,185 positions in bf16.
    found = attention(shared_trace("h100-owlv2-dataloader-stacks"))
    assert len(found.blocks) == 180
    assert found.blocks[0].scores == (16, 5185, 5185)
    assert found.blocks[0].scores_bytes == 2 * 16 * 5185**2


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert attention(empty_trace).blocks == ()


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = attention(trace)
    assert not (found.products & ~found.chosen).any()
