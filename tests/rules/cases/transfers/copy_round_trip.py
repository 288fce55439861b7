"""Ten steps of 1 ms: a kernel, 1 MiB to the host, 20 µs of work there, and 1 MiB back."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Tensors go to the host and back, for 10 % of the steps’ time",
    {"round_trips": 10, "bytes_each": 1 << 20, "copy_ms": 0.8, "cost_ms": 1.0},
    saving_share=0.1,
    change="on the device",
)


def _steps(back: int) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).kernel("gemm", at, 500, launch_at_us=at)
        builder.operator("aten::to", at + 10, 531)
        builder.copy("d2h", at + 500, 40, host_memory="pageable", launch_at_us=at + 20).sync(at + 30, 510)
        builder.operator("aten::to", at + 555, 45)
        builder.copy("h2d", at + 560, 40, bytes=back, host_memory="pageable", launch_at_us=at + 556)
        builder.kernel("gemm", at + 600, 400, launch_at_us=at + 590)
    return builder.build()


def fires() -> Trace:
    return _steps(1 << 20)


def stays_quiet() -> Trace:
    """Something else comes back."""
    return _steps((1 << 20) - 4)


def abstains() -> Trace:
    return TraceBuilder().step(0, 100).call("cudaMemcpyAsync", 0, 20).build()
