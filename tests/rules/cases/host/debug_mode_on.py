"""Fifty launches of 20 µs apart, each of which waits for its kernel of 10 µs."""

from gpuprof.model.context import Environment
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "A mode for finding faults is on: blocking launches (`CUDA_LAUNCH_BLOCKING=1`)",
    {"blocking_launches": 46, "host_blocked_ms": 0.69},
    saving_share=0.5,
    change="CUDA_LAUNCH_BLOCKING",
)


def _launches(blocking: int) -> TraceBuilder:
    builder = TraceBuilder()
    for number in range(50):
        at, takes = 20 * number, 15 if number < blocking else 4
        builder.kernel("gemm", at + 4, 10, launch_at_us=at, launch_for_us=takes)
    return builder.operator("aten::mm", 990, 10)


def fires() -> Trace:
    return _launches(46).build()


def stays_quiet() -> Trace:
    return _launches(44).context(environment=Environment(deterministic=False, anomaly_mode=False)).build()


def abstains() -> Trace:
    """A trace file with ordinary launches."""
    return _launches(0).build()
