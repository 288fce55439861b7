"""A run of 10 ms whose last part is a loop over 20 elements: a slice, a product, and a read of the result."""

from typing import Any

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

TURNS = 20

EXPECTED = Expected(
    Severity.HIGH,
    "A Python loop waits for the device in each iteration and takes 30 % of the recorded time",
    {
        "iterations": 20,
        "loops": 1,
        "loop_ms": 3.0,
        "waits": 20,
        "kernels": 20,
        "copies": 20,
        "operators": "aten::select, aten::mul, aten::item",
    },
    saving_share=0.28,
    basis="one iteration for all",
    change="to the CPU once",
)


def run_of(
    each_us: float = 150,
    *,
    taking: str = "aten::select",
    working: str = "aten::mul",
    kernel_us: float = 4,
    extra_us: float = 0,
    device: bool = True,
) -> TraceBuilder:
    """`taking`, `working`: the operators before the read; `extra_us`: by what the first iteration is longer."""
    before = 10_000 - TURNS * each_us - extra_us
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    if device:
        builder.kernel("gemm", 6, before - 10, launch_at_us=2)
    builder.operator("aten::is_nonzero", 20, before - 20).sync(20, before - 20)
    for turn in range(TURNS):
        at = before + turn * each_us + (extra_us if turn else 0)
        end = before + (turn + 1) * each_us + extra_us
        part = each_us / 10
        read, copied = at + 2 * part, at + 3 * part + kernel_us
        builder.operator(taking, at, part).operator(working, at + part, part)
        builder.operator("aten::item", read, end - read).operator("aten::_local_scalar_dense", read, end - read)
        if device:
            builder.kernel("elementwise", at + 2 * part, kernel_us, launch_at_us=at + part, launch_for_us=part)
            builder.copy("d2h", copied, 1, bytes=4, launch_at_us=read, launch_for_us=part / 2)
        else:
            builder.call("cudaLaunchKernel", at + part, part)
        builder.sync(read + part / 2, copied + 1 - read - part / 2)
    return builder


def looped(each_us: float = 150, **differing: Any) -> Trace:
    return run_of(each_us, **differing).build()


def fires() -> Trace:
    return looped()


def stays_quiet() -> Trace:
    """A model in each iteration: generation, token by token."""
    return looped(working="aten::linear")


def abstains() -> Trace:
    """The waits are there, but not what the device did meanwhile."""
    return looped(device=False)
