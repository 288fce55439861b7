"""Adam as torch makes it by default on a GPU: few kernels, but several passes over all parameters."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.training.unfused_optimizer import UnfusedOptimizer
from tests.support.trace_builder import TraceBuilder


def run(name: str = "AdamW", *, fused: bool = False, step_us: int = 2000, device: bool = True) -> Trace:
    """Ten steps that end in ten kernels, for 0.25 ms, of a foreach (or one of a fused) optimizer."""
    known = Optimizer(name=name, parameters=100, elements=10_000_000, fused=fused, device="cuda:0", line=3)
    builder = TraceBuilder().context(optimizers=(known,))
    kind = "aten::_fused_adamw_" if fused else "aten::_foreach_addcmul_"
    for at in range(0, 10 * step_us, step_us):
        builder.step(at, step_us).optimizer_step(name, at + 1500, 300)
        for turn in range(10):
            builder.operator(kind, at + 1510 + 25 * turn, 15)
            if device:
                launched = at + 1512 + 25 * turn
                builder.kernel("multi_tensor_apply", launched + 10, 20, launch_at_us=launched)
        if device:
            builder.kernel("gemm", at + 50, 1300, launch_at_us=at + 20)
            builder.call("cudaStreamSynchronize", at + 1900, 20)
    return builder.build()


def check(trace: Trace) -> object:
    return UnfusedOptimizer().check(Results(trace))


def test_foreach_adam_on_a_device_could_be_fused() -> None:
    found = check(run())
    assert isinstance(found, Finding)
    assert found.title.startswith("The optimizer (AdamW) passes over its parameters several times, for ")
    assert found.change == "Make it `AdamW(..., fused=True)`."
    assert found.where.lines == (3,)
    assert found.saving is None or found.saving.grade == "C"


def test_what_is_fused_or_cheap_or_another_optimizer_is_left_alone() -> None:
    assert check(run(fused=True)) is None
    assert check(run(step_us=20_000)) is None
    assert check(run("RMSprop")) is None
    assert check(run(device=False)) is None
