"""Ten steps of 1 ms, each of twenty short kernels that begin 5 µs after their launch."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The host launches too slowly: 88 % of the steps’ time is lost in gaps",
    {"device_busy_share": 0.12, "kernels": 200, "median_kernel_us": 6.0, "queue_depth": 0.0},
    saving_share=0.86,
    basis="simulated with the forward pass as CUDA graphs",
    change="torch.compile",
)


def _kernels(for_us: float, *, launched: bool = True) -> Trace:
    builder = TraceBuilder().operator("aten::linear", 0, 10_000)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
    for at in range(0, 10_000, 50):
        builder.kernel("add", at + 5, for_us, launch_at_us=at if launched else None, blocks=64)
    return builder.sync(9960, 50).build()


def fires() -> Trace:
    return _kernels(6)


def stays_quiet() -> Trace:
    """Idle in gaps for a little less than 20 %, with the same launches."""
    return _kernels(40.5)


def abstains() -> Trace:
    """Without the launches nobody knows how far the host was ahead."""
    return _kernels(6, launched=False)
