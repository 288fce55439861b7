"""Ten steps of 1 ms: a copy from pinned memory with a synchronise until it ends, then a kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Waiting for copies from pinned memory holds up 10 % of the steps’ time",
    {"copies": 10, "bytes": 10 << 20, "host_blocked_ms": 0.95, "cost_ms": 1.0},
    saving_share=0.1,
    change="non_blocking=True",
)


def _copies(for_us: float, memory: str) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::to", at, for_us)
        builder.copy("h2d", at, for_us, host_memory=memory, launch_at_us=at).sync(at + 5, for_us - 5)
        builder.kernel("gemm", at + for_us, 1000 - for_us, launch_at_us=at + for_us)
    return builder.build()


def fires() -> Trace:
    return _copies(100, "pinned")


def stays_quiet() -> Trace:
    return _copies(29, "pinned")


def abstains() -> Trace:
    return _copies(100, "unknown")
