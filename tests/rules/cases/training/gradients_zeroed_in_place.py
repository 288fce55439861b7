"""Ten steps of 1 ms without a device; each zeroes twenty gradients and adds to them."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Zeroing gradients and adding to the zeros takes 8.0 % of the steps’ time",
    {"zero_grad_calls": 10, "zeroing_operators": 200, "adding_operators": 200, "cost_ms": 0.8},
    saving_share=0.064,
    change="optimizer.zero_grad()",
)

ACCUMULATE = "torch::autograd::AccumulateGrad"


def _steps(operator_us: float, *, launches: bool = False) -> Trace:
    builder = TraceBuilder().operator("aten::linear", 0, 1)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).span("Optimizer.zero_grad#SGD.zero_grad", at + 10, 20 * operator_us)
        for number in range(20):
            builder.operator("aten::zero_", at + 10 + number * operator_us, operator_us)
            start = at + 500 + 10 * number
            builder.operator(ACCUMULATE, start, 9).operator("aten::add_", start + 1, operator_us)
            if launches:
                builder.call("cudaLaunchKernel", start + 1, 1)
    return builder.operator("aten::linear", 9999, 1).build()


def fires() -> Trace:
    return _steps(2)


def stays_quiet() -> Trace:
    """0.4 % of the time."""
    return _steps(0.1)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _steps(2, launches=True)
