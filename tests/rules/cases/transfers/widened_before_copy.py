"""Ten steps of 1 ms: two samples of bytes become floats, which are copied together, then a kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Data are copied as float32 that were uint8, for 15 % of the steps’ time too much",
    {"copies": 10, "bytes": 10 << 20, "bytes_needed": 10 << 18, "saved_ms": 1.5},
    saving_share=0.15,
    change="torch.float32",
)


def _steps(copied: int, types: str | None = '["float", "unsigned char", "Bool"]') -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for sample in (at, at + 100):
            dims = "[[131072], [131072], []]" if types else None
            builder.operator("aten::to", sample, 50).operator("aten::copy_", sample + 5, 40, dims=dims, types=types)
        builder.operator("aten::to", at + 210, 10)
        builder.copy("h2d", at + 215, 200, bytes=copied, host_memory="pinned", launch_at_us=at + 212)
        builder.kernel("gemm", at + 415, 500, launch_at_us=at + 230)
    return builder.build()


def fires() -> Trace:
    return _steps(1 << 20)


def stays_quiet() -> Trace:
    """Something else is copied."""
    return _steps((1 << 20) + 4)


def abstains() -> Trace:
    return _steps(1 << 20, None)
