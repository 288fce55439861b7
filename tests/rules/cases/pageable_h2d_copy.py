"""Ten steps of 1 ms: the copy of a batch, then a kernel."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Copies from pageable memory hold up 10 % of the steps’ time",
    {"copies": 10, "bytes": 4_000_000, "exposed_ms": 1.0, "bandwidth_gb_per_s": 4.0},
    lines=(7,),
    saving_share=0.1,
    change="pin_memory=True",
)


def _copies(for_us: float, memory: str) -> Trace:
    builder = TraceBuilder().context(loaders=(Loader(workers=2, pin_memory=False, line=7),))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::to", at, for_us)
        builder.copy("h2d", at, for_us, bytes=400_000, host_memory=memory, launch_at_us=at, launch_for_us=for_us)
        builder.kernel("gemm", at + for_us, 1000 - for_us, launch_at_us=at + for_us)
    return builder.build()


def fires() -> Trace:
    return _copies(100, "pageable")


def stays_quiet() -> Trace:
    return _copies(29, "pageable")


def abstains() -> Trace:
    """ROCm hides the kind of the host's memory."""
    return _copies(100, "unknown")
