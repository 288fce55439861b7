"""Ten steps on the host, the first of which takes as long as thirty others."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "The first step takes 77 % of the steps’ time",
    {"warm_up_steps": 1, "warm_up_ms": 3.0, "warm_up_share": 0.769, "steps": 10, "median_step_ms": 0.1},
    change="in a cell of their own",
)


def _steps(first_us: float) -> Trace:
    builder = TraceBuilder().step(0, first_us).operator("aten::mm", 0, first_us)
    for number in range(9):
        at = first_us + 100 * number
        builder.step(at, 100).operator("aten::mm", at, 100)
    return builder.build()


def fires() -> Trace:
    return _steps(3000)


def stays_quiet() -> Trace:
    """49 % of the time."""
    return _steps(880)


def abstains() -> Trace:
    """Operators, but no step and no runtime call."""
    return TraceBuilder().operator("aten::mm", 0, 10).build()
