"""Ten steps of 1 ms: a copy from pinned memory with a synchronise until it ends, host work, then a kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Waiting for copies from pinned memory leaves the device idle for 12 % of the steps’ time",
    {"copies": 10, "bytes": 10 << 20, "host_blocked_ms": 0.5, "cost_ms": 1.2},
    basis="simulated",
    change="non_blocking=True",
)


def _copies(work_us: float, memory: str) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::to", at, 60)
        builder.copy("h2d", at + 7, 45, host_memory=memory, launch_at_us=at).sync(at + 7, 50)
        builder.kernel("gemm", at + 65 + work_us, 930 - work_us, launch_at_us=at + 57 + work_us)
    return builder.operator("aten::mm", 9_990, 10).build()


def fires() -> Trace:
    return _copies(102, "pinned")


def stays_quiet() -> Trace:
    return _copies(8, "pinned")


def abstains() -> Trace:
    return _copies(102, "unknown")
