"""Ten steps of 10 ms: a kernel, then Python, with one core at work."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "The device waits for the host’s own work 20 % of the steps’ time",
    {"gaps": 9, "gaps_ms": 18.0, "python_ms": 18.0, "cpu_percent": 99},
    saving_share=0.18,
    change="every hundred steps",
)


def _steps(gap_us: float, *, read: bool = True) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 100_000, 10_000):
        builder.step(at, 10_000).operator("aten::mm", at + gap_us, 20)
        builder.kernel("gemm", at + gap_us, 10_000 - gap_us, launch_at_us=at + gap_us)
        if read:
            builder.host_sample(at + 5_000, cpu_percent=99)
    return builder.operator("aten::empty", 0, 1).build()


def fires() -> Trace:
    return _steps(2000)


def stays_quiet() -> Trace:
    """Gaps of under 1 ms come from the pace of launching."""
    return _steps(999)


def abstains() -> Trace:
    return _steps(2000, read=False)
