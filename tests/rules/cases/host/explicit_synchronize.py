"""Ten steps of 1 ms: a launch, a synchronise until the kernel's end, and host work with the device idle."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Synchronising by hand leaves the device idle for 10 % of the steps’ time",
    {"waits": 10, "waits_per_step": 1.0, "host_blocked_ms": 8.96, "idle_ms": 1.0},
    lines=(2,),
    saving_share=0.106,
    basis="simulated",
    change="torch.cuda.Event",
)


def _steps(idle_us: float) -> Trace:
    builder = TraceBuilder().context(cell=Cell(source="loss.backward()\ntorch.cuda.synchronize()"))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).kernel("gemm", at + 7, 987 - idle_us, launch_at_us=at)
        builder.sync(at + 10, 990 - idle_us, "cudaDeviceSynchronize")
    return builder.kernel("gemm", 10_008, 1, launch_at_us=10_000).build()


def fires() -> Trace:
    return _steps(94)


def stays_quiet() -> Trace:
    return _steps(23)


def abstains() -> Trace:
    """Launches without any device event."""
    return TraceBuilder().step(0, 100).call("cudaLaunchKernel", 0, 5).sync(10, 50).build()
