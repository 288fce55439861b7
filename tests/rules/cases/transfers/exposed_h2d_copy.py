"""Ten steps of 1 ms: a copy from pinned memory that nobody waits for, a kernel, and a wait for that."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Copies that could run beside the kernels take 10 % of the steps’ time",
    {"copies": 10, "copy_ms": 1.0, "exposed_ms": 1.0},
    saving_share=0.082,
    basis="simulated with each batch copied on a stream of its own",
    change="torch.cuda.Stream()",
)


def _copies(for_us: float, memory: str) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::to", at, 8)
        builder.copy("h2d", at + 8, for_us, host_memory=memory, launch_at_us=at)
        builder.kernel("gemm", at + 9 + for_us, 980 - for_us, launch_at_us=at + 10)
        builder.sync(at + 20, 979)
    return builder.build()


def fires() -> Trace:
    return _copies(100, "pinned")


def stays_quiet() -> Trace:
    return _copies(49, "pinned")


def abstains() -> Trace:
    return _copies(100, "unknown")
