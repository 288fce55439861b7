"""Products whose kernels read singly, by shape."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.unaligned_products import UnalignedProducts
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

ALIGN1 = "cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1"


def unaligned(trace: Trace) -> UnalignedProducts:
    return Results(trace).get(UnalignedProducts)


def test_tf32_wants_multiples_of_four() -> None:
    builder = TraceBuilder().operator("aten::addmm", 0, 20, dims="[[6], [12, 1705], [1705, 20], [], []]")
    builder.kernel(ALIGN1, 5, 30, launch_at_us=1).kernel(ALIGN1, 40, 10, launch_at_us=7)
    found = unaligned(builder.kernel("cutlass_80_tensorop_s1688gemm_nt_align4", 60, 10, launch_at_us=13).build())
    assert found.chosen.tolist() == [True, True, False]
    (shape,) = found.shapes
    assert (shape.operator, shape.odd_sizes, shape.ns) == ("aten::addmm", (1705,), 40_000)
    assert shape.shapes == ((12, 1705), (1705, 20))


def test_of_a_convolution_the_channels_count() -> None:
    builder = TraceBuilder().operator("aten::cudnn_convolution", 0, 20, dims="[[8, 3, 225, 225], [64, 3, 7, 7]]")
    (shape,) = unaligned(builder.kernel(ALIGN1, 5, 30, launch_at_us=1).build()).shapes
    assert shape.odd_sizes == (3,)


def test_without_shapes_the_kernels_still_tell() -> None:
    found = unaligned(TraceBuilder().operator("aten::mm", 0, 20).kernel(ALIGN1, 5, 30, launch_at_us=1).build())
    assert (found.chosen.tolist(), found.shapes) == ([True], ())


def test_eager_attention_is_left_to_its_own_rule(shared_trace: Any) -> None:
    # 41 % of that run's kernel time is align1 products, nearly all of them over 5,185 positions.
    trace = shared_trace("h100-owlv2-dataloader-stacks")
    found = unaligned(trace)
    assert 0 < found.chosen.sum() < 50
    assert sum(shape.ns for shape in found.shapes) < 0.01 * trace.span_ns
