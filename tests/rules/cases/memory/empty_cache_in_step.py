"""Ten steps of 1 ms: kernels, then two frees between operators, and two allocations at the next step's beginning."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Emptying the memory cache in every step costs 10 % of the steps’ time",
    {"steps_with": 9, "frees_per_step": 2, "allocations_per_step": 2, "idle_ms": 0.9},
    lines=(3,),
    saving_share=0.09,
    change="torch.cuda.empty_cache()",
)


def _steps(each_us: float) -> TraceBuilder:
    source = "for x in data:\n    step(x)\n    torch.cuda.empty_cache()  # was full\n    # empty_cache()\n"
    builder = TraceBuilder().context(cell=Cell(source=source))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::mm", at, 600)
        for number in range(2):
            builder.call("cudaMalloc", at + 100 * number, each_us)
        builder.kernel("gemm", at + 400, 400, launch_at_us=at + 390)
        builder.operator("aten::item", at + 610, 205).sync(at + 620, 190)
        for number in range(2):
            builder.call("cudaFree", at + 850 + number * (each_us + 1), each_us)
    return builder.operator("aten::mm", 9_990, 10)


def fires() -> Trace:
    return _steps(25).build()


def stays_quiet() -> Trace:
    """0.96 % of the steps."""
    return _steps(2.4).build()


def abstains() -> Trace:
    return TraceBuilder().step(0, 1000).call("cudaLaunchKernel", 0, 5).call("cudaFree", 10, 500).build()
