"""Ten steps of 1 ms without a device; Adam issues ten operators for each of twelve tensors."""

from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The optimizer (Adam) updates parameters one by one, for 24 % of the steps’ time",
    {"optimizer_ms": 2.4, "optimizer_steps": 10, "operators_per_step": 120, "parameters": 12},
    lines=(5,),
    saving_share=0.18,
    change="Adam(..., fused=True)",
)


def _steps(operator_us: float, *, names: str = "aten::addcmul_", launches: bool = False) -> Trace:
    known = Optimizer(name="Adam", parameters=12, elements=1200, fused=False, foreach=False, line=5)
    builder = TraceBuilder().context(optimizers=(known,)).operator("aten::linear", 0, 1)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).optimizer_step("Adam", at + 500, 120 * operator_us)
        for turn in range(120):
            builder.operator(names, at + 500 + turn * operator_us, operator_us)
            if launches:
                builder.call("cudaLaunchKernel", at + 500 + turn * operator_us, 1)
    return builder.operator("aten::linear", 9999, 1).build()


def fires() -> Trace:
    return _steps(2)


def stays_quiet() -> Trace:
    """2.9 % of the time."""
    return _steps(0.24)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _steps(2, launches=True)
