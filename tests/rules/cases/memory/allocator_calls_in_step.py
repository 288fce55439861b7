"""Five steps of 10 ms in which thirty operators fetch memory, and thirty others give it back."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Fetching memory from the driver and giving it back costs 30 % of the steps’ time",
    {"steps_with": 4, "allocations_per_step": 30, "frees_per_step": 30, "idle_ms": 12.0},
    saving_share=0.24,
    basis="simulated",
    change="PYTORCH_NO_CUDA_MEMORY_CACHING",
)


def _steps(free_us: float) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000)
        for number in range(30):
            begin = at + 200 * number
            builder.operator("aten::empty", begin, 10).call("hipMalloc", begin, 1)
            builder.operator("ReluBackward0", begin + 20, 180).call("hipFree", begin + 20, free_us)
        builder.kernel("gemm", at + 7000, 2900, launch_at_us=at + 6990)
        builder.operator("aten::item", at + 7000, 2915).sync(at + 7005, 2905)
    return builder.build()


def fires() -> Trace:
    return _steps(99)


def stays_quiet() -> Trace:
    """0.96 % of the steps."""
    return _steps(2.2)


def abstains() -> Trace:
    """Without steps."""
    builder = TraceBuilder().operator("aten::empty", 0, 500).call("cudaMalloc", 0, 500)
    return builder.kernel("gemm", 600, 100, launch_at_us=590).build()
