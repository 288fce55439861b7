"""Which kernels work in fp64, and who launched them."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.float64_kernels import Float64Kernels
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_by_name_and_by_operator() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 20).operator("aten::addmm", 1, 10)
    builder.kernel("volta_dgemm_64x64_nn", 10, 30, launch_at_us=2)
    builder.operator("aten::add", 30, 10).kernel("elementwise_kernel<CUDAFunctor_add<double> >", 50, 5, launch_at_us=31)
    builder.kernel("elementwise_kernel<CUDAFunctor_add<float> >", 60, 5, launch_at_us=32)
    found = Results(builder.kernel("fill<double>", 70, 1).build()).get(Float64Kernels)
    assert found.chosen.tolist() == [True, True, False, True]
    assert found.products.tolist() == [True, False, False, False]
    assert found.operators == (("aten::linear", 30_000), ("aten::add", 5_000))


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(Float64Kernels).operators == ()
