"""Steps of 1 ms with an all-reduce that is half under compute."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Exposed communication: 10 % of step time",
    {"exposed_ms": 0.3, "exposed_share": 0.1, "collective_kernels": 3, "longest_kind": "ncclKernel_AllReduce_RING"},
    saving_share=0.05,
    change="Compare the ranks first",
)


def _steps(exposed_us: int, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 3000, 1000):
        builder.step(at, 1000).call("cudaLaunchKernel", at, 5)
        if recorded:
            builder.kernel("gemm", at, 1000 - exposed_us)
            builder.kernel("ncclKernel_AllReduce_RING(work)", at + 1000 - 2 * exposed_us, 2 * exposed_us, stream=9)
    return builder.build()


def fires() -> Trace:
    return _steps(100)


def stays_quiet() -> Trace:
    """4.9 % of the step."""
    return _steps(49)


def abstains() -> Trace:
    return _steps(100, recorded=False)
