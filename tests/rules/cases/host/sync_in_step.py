"""Ten steps of 1 ms: a kernel, a read of its result, and a while until the next launch."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Reading from the device leaves it idle for 10 % of the steps’ time",
    {
        "waits": 10,
        "waits_per_step": 0.91,
        "host_blocked_ms": 8.4,
        "idle_ms": 1.1,
        "operators": "aten::item (10×)",
    },
    saving_share=0.116,
    basis="simulated without these waits",
    change="Keep the value on the device",
)


def _reads(idle_us: float, *, device: bool = True) -> Trace:
    builder = TraceBuilder()
    work = 1000 - idle_us
    for at in range(0, 11_000, 1000):
        builder.step(at, 1000)
        if device:
            builder.kernel("gemm", at + 6, work - 10, launch_at_us=at)
        else:
            builder.call("cudaLaunchKernel", at, 5)
        if at < 10_000:
            builder.operator("aten::item", at + 50, work - 50).operator("aten::_local_scalar_dense", at + 50, work - 50)
            builder.sync(at + 50, work - 50)
    return builder.build()


def fires() -> Trace:
    return _reads(106)


def stays_quiet() -> Trace:
    return _reads(28)


def abstains() -> Trace:
    """The waits are there, but not what the device did after them."""
    return _reads(100, device=False)
