"""Which phase and operator each kernel stems from."""

from __future__ import annotations

from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins, KernelPhase
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def origins(trace: Trace) -> KernelOrigins:
    return Results(trace).get(KernelOrigins)


def _training() -> Trace:
    builder = TraceBuilder().operator("aten::linear", 0, 20).operator("aten::addmm", 5, 10)
    builder.kernel("volta_sgemm_64x64_nn", 30, 10, launch_at_us=7)
    builder.optimizer_step("SGD", 80, 20).operator("aten::add_", 82, 10)
    builder.kernel("vectorized_elementwise_kernel", 100, 5, launch_at_us=84)
    builder.kernel("ncclKernel_AllReduce", 110, 5, launch_at_us=95).kernel("orphan", 120, 5)
    builder.thread("autograd").operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 40, 20)
    builder.operator("aten::add_", 42, 10)
    return builder.kernel("vectorized_elementwise_kernel", 60, 5, launch_at_us=45).build()


def test_each_kernel_has_its_phase_and_its_operators() -> None:
    trace = _training()
    found = origins(trace)
    phases = [KernelPhase.FORWARD, KernelPhase.BACKWARD, KernelPhase.OPTIMIZER, KernelPhase.UNKNOWN]
    assert found.phase.tolist() == phases
    names = trace.names_of(trace.operators)
    assert names[found.operator[:3]].tolist() == ["aten::addmm", "aten::add_", "aten::add_"]
    assert names[found.root[0]] == "aten::linear"
    assert found.root[3] == found.operator[3] == -1
    assert found.in_gradient.tolist() == [False, True, False, False]
    assert found.category[0] == KernelCategory.GEMM
    assert found.union(found.phase == KernelPhase.FORWARD).total_ns == 10_000


def test_only_the_first_device_counts() -> None:
    trace = TraceBuilder().kernel("a", 0, 10, device=3).kernel("b", 0, 20, device=1).build()
    assert origins(trace).duration_ns.tolist() == [20_000]


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert origins(empty_trace).count == 0


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = origins(trace)
    assert ((found.root >= 0) == (found.operator >= 0)).all()
    assert (found.operator[found.in_gradient] >= 0).all()
