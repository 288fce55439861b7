"""Ten steps of 1 ms: sixteen copies of 4 KiB, with the host in each of them, then a kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Many small copies to the device take 29 % of the steps’ time",
    {"copies": 160, "copies_per_step": 16, "bytes": 160 * 4096, "host_ms": 3.2, "idle_ms": 2.88},
    saving_share=0.27,
    basis="simulated with one copy a step",
    change="torch.stack",
)


def _copies(number: int) -> TraceBuilder:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for begin in range(at, at + 20 * number, 20):
            builder.operator("aten::to", begin, 20)
            builder.copy("h2d", begin + 10, 2, bytes=4096, host_memory="pageable", launch_at_us=begin + 5)
            builder.sync(begin + 11, 8)
        builder.kernel("gemm", at + 20 * number, 1000 - 20 * number, launch_at_us=at + 20 * number)
    return builder


def fires() -> Trace:
    return _copies(16).build()


def stays_quiet() -> Trace:
    """One copy less."""
    return _copies(15).build()


def abstains() -> Trace:
    return TraceBuilder().step(0, 100).call("cudaMemcpyAsync", 0, 20).build()
