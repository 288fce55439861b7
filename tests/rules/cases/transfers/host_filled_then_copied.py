"""Ten steps of 1 ms that begin with random numbers on the host, their copy, and a kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Tensors are filled on the host and then copied, for 30 % of the steps’ time",
    {"tensors": 10, "bytes": 10 << 20, "made_by": "randn", "cost_ms": 3.0},
    saving_share=0.3,
    change="torch.randn(..., device=device)",
)


def _steps(copied: str | None) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::randn", at, 200, dims="[[], []]" if copied else None)
        builder.operator("aten::normal_", at + 10, 180, dims="[[512, 512], []]" if copied else None)
        builder.operator("aten::to", at + 205, 95, dims=copied)
        builder.copy("h2d", at + 210, 90, host_memory="pageable", launch_at_us=at + 208, launch_for_us=90)
        builder.kernel("gemm", at + 300, 700, launch_at_us=at + 300)
    return builder.build()


def fires() -> Trace:
    return _steps("[[512, 512], []]")


def stays_quiet() -> Trace:
    """Another tensor is copied."""
    return _steps("[[1024, 256], []]")


def abstains() -> Trace:
    """Without shapes."""
    return _steps(None)
