"""Ten steps of 1 ms: a kernel, and a clone of a tensor that the next kernel reads."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Copies within the device take 10 % of the steps’ time",
    {"copies": 10, "copy_ms": 1.0, "exposed_ms": 1.0, "operators": "aten::clone (1.00 ms)"},
    saving_share=0.05,
    basis="upper bound: simulated with these copies taking 80 %, half and none of their time",
    change="contiguous()",
)


def _copies(for_us: float) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::clone", at + 12, 20)
        builder.kernel("gemm", at + 5, 490, launch_at_us=at)
        builder.copy("d2d", at + 495, for_us, launch_at_us=at + 15)
        builder.kernel("gemm", at + 495 + for_us, 495 - for_us, launch_at_us=at + 40)
        builder.sync(at + 50, 942)
    return builder.build()


def fires() -> Trace:
    return _copies(100)


def stays_quiet() -> Trace:
    return _copies(49)


def abstains() -> Trace:
    return TraceBuilder().step(0, 100).call("cudaMemcpyAsync", 0, 20).build()
