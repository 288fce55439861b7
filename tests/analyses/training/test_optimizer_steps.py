"""What the optimizer costs."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps, OptimizerUse
from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def only(builder: TraceBuilder) -> OptimizerUse:
    use = Results(builder.build()).get(OptimizerSteps).primary
    assert use is not None
    return use


def _two_steps() -> TraceBuilder:
    """Two steps of 100 µs whose optimizer takes 30 µs and runs two operators, one of them around another."""
    builder = TraceBuilder()
    for at in (0, 100):
        builder.step(at, 100).optimizer_step("Adam", at + 50, 30)
        builder.operator("aten::mul_", at + 55, 5).operator("aten::add_", at + 62, 10).operator(
            "aten::copy_", at + 64, 5
        )
    return builder


def test_host_time_and_operators() -> None:
    use = only(_two_steps())
    assert (use.name, use.count, use.ns, use.share) == ("Adam", 2, 60_000, 0.3)
    assert use.operators_per_step == 2
    assert (use.kernels_per_step, use.device) == (None, None)


def test_time_on_the_device_runs_from_the_first_kernel_to_the_last() -> None:
    builder = _two_steps().kernel("gemm", 5, 5, launch_at_us=2)
    for at in (0, 100):
        builder.kernel("mul", at + 60, 4, launch_at_us=at + 56).kernel("add", at + 70, 5, launch_at_us=at + 64)
    use = only(builder)
    assert use.kernels_per_step == 2
    assert use.device is not None
    assert (use.device.ends - use.device.starts).tolist() == [15_000, 15_000]


def test_what_the_run_knows_is_joined_by_name() -> None:
    known = Optimizer(name="Adam", parameters=3, elements=30)
    assert only(_two_steps().context(optimizers=(known,))).known == known
    assert only(_two_steps().context(optimizers=(known, known))).known is None


def test_implementations_are_recognised() -> None:
    assert only(TraceBuilder().optimizer_step("Adam", 0, 9).operator("aten::_fused_adam_", 1, 5)).fused_seen
    assert only(TraceBuilder().optimizer_step("FusedAdam", 0, 9).operator("aten::zeros", 1, 5)).fused_seen
    assert only(TraceBuilder().optimizer_step("SGD", 0, 9).operator("aten::_foreach_add_", 1, 5)).foreach_seen
    assert only(TraceBuilder().optimizer_step("LBFGS", 0, 9).operator("MmBackward0", 1, 5)).closure_untold


def test_without_an_optimizer_there_is_none(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(OptimizerSteps).primary is None
