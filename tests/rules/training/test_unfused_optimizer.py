"""Adam as torch makes it by default on a GPU: few kernels, but several passes over all parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.training.unfused_optimizer import UnfusedOptimizer
from tests.rules.cases.training.unfused_optimizer import fires
from tests.support.trace_builder import TraceBuilder


def run(
    name: str = "AdamW",
    *,
    fused: bool = False,
    step_us: int = 2000,
    device: bool = True,
    floating: bool | None = True,
) -> Trace:
    """Ten steps that end in ten kernels, for 0.25 ms, of a foreach (or one of a fused) optimizer."""
    facts: dict[str, Any] = {"fused": fused, "device": "cuda:0", "line": 3, "floating": floating}
    known = Optimizer(name=name, parameters=100, elements=10_000_000, **facts)
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
    assert found.change == "Make it `AdamW(..., fused=True)`. This needs torch 2.0 or newer."
    assert found.where.lines == (3,)
    assert found.saving is None or found.saving.grade == "C"


def test_what_is_fused_or_cheap_or_another_optimizer_is_left_alone() -> None:
    assert check(run(fused=True)) is None
    assert check(run(step_us=20_000)) is None
    assert check(run("RMSprop")) is None
    assert check(run(device=False)) is None


SOURCE = "opt = torch.optim.Adam(p)\n# here\nfor x in data:\n    loss(x).backward()\n    opt.step()\n"


def of_types(trace: Trace, floating: bool | None, device: str) -> Trace:
    """With an optimizer whose parameters are of such types, and a cell whose line 5 steps it."""
    (known,) = trace.context.optimizers
    facts = msgspec.structs.replace(known, floating=floating, device=device, line=5)
    context = msgspec.structs.replace(trace.context, optimizers=(facts,), cell=Cell(source=SOURCE))
    return replace(trace, context=context)


@pytest.mark.parametrize(("floating", "found"), [(None, True), (True, True), (False, False)])
def test_on_the_cpu_no_fused_step_takes_complex_parameters(floating: bool | None, found: bool) -> None:
    answer = check(of_types(fires(), floating, "cpu"))
    assert isinstance(answer, Finding) is found
    if isinstance(answer, Finding):
        assert answer.diff is not None and "fused=True" in answer.diff


def test_on_a_device_complex_parameters_are_updated_together() -> None:
    assert check(run(floating=False)) is None
    trace = one_by_one()
    for floating, argument in ((True, "fused=True"), (False, "foreach=True")):
        answer = check(of_types(trace, floating, "cuda:0"))
        assert isinstance(answer, Finding) and f"Adam(..., {argument})" in answer.change
        assert answer.diff is not None and argument in answer.diff


def one_by_one() -> Trace:
    """Ten steps of an Adam with a hundred kernels in each."""
    known = Optimizer(name="Adam", parameters=10, elements=1000, fused=False, foreach=False)
    builder = TraceBuilder().context(optimizers=(known,))
    for at in range(0, 20_000, 2000):
        builder.step(at, 2000).optimizer_step("Adam", at + 500, 1200)
        builder.kernel("gemm", at + 50, 400, launch_at_us=at + 20)
        for turn in range(100):
            launched = at + 500 + 12 * turn
            builder.operator("aten::addcmul_", launched, 10)
            builder.kernel("elementwise", launched + 5, 8, launch_at_us=launched + 2)
        builder.call("cudaStreamSynchronize", at + 1900, 20)
    return builder.build()


def test_a_trace_from_elsewhere_is_told_which_torch_has_it() -> None:
    def change(name: str, *operators: str) -> str:
        builder = TraceBuilder().device()
        for step in range(3):
            at = step * 1000
            builder.step(at, 1000).optimizer_step(name, at + 100, 600)
            for number, operator in enumerate(operators):
                builder.operator(operator, at + number * 10, 5)
            for number in range(40):
                builder.kernel("add", at + 120 + number * 10, 5, launch_at_us=at + 110 + number * 10)
        found = UnfusedOptimizer().check(Results(builder.build()))
        assert isinstance(found, Finding)
        return found.change

    assert change("SGD") == "Make it `SGD(..., fused=True)`. This needs torch 2.3 or newer."
    assert change("Adam").endswith("This needs torch 2.0 or newer.")
    assert change("SGD", "aten::cudnn_convolution_backward").endswith("; the recorded torch is older than 1.11.")
