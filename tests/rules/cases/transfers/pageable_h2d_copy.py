"""Ten steps of 10 ms: the copy of a batch, then a kernel."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Copies from pageable memory hold up 10 % of the steps’ time",
    {"copies": 10, "bytes": 4_000_000, "exposed_ms": 10.0, "bandwidth_gb_per_s": 0.4},
    lines=(7,),
    saving_share=0.0973,
    basis="simulated with copies from pinned memory",
    change="pin_memory=True",
)


def _copies(for_us: float, memory: str) -> Trace:
    builder = TraceBuilder().context(loaders=(Loader(workers=2, pin_memory=False, line=7),))
    for at in range(0, 100_000, 10_000):
        builder.step(at, 10_000).operator("aten::to", at, for_us + 3)
        builder.copy(
            "h2d", at + 2, for_us, bytes=400_000, host_memory=memory, launch_at_us=at, launch_for_us=for_us + 3
        )
        builder.kernel("gemm", at + for_us + 9, 10_000 - for_us - 20, launch_at_us=at + for_us + 3)
        builder.sync(at + for_us + 12, 10_000 - for_us - 20)
    return builder.build()


def fires() -> Trace:
    return _copies(1000, "pageable")


def stays_quiet() -> Trace:
    return _copies(290, "pageable")


def abstains() -> Trace:
    """ROCm hides the kind of the host's memory."""
    return _copies(1000, "unknown")
