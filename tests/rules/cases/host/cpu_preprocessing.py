"""Four inputs, each scaled for 3 ms by a function of another library before 7 ms of kernels that the host waits for."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "The device is idle for 30 % of the recorded time while the CPU runs skimage/transform.py(9): resize",
    {"pauses": 4, "functions_ms": 12.0},
    saving_share=0.3,
    basis="upper bound: simulated without these functions",
    change="while the device computes",
)


def _inputs(for_us: float, function: str = "skimage/transform.py(9): resize") -> Trace:
    builder = TraceBuilder()
    for at in range(0, 40_000, 10_000):
        builder.operator("aten::empty", at, 1).frame(function, at, for_us).operator("aten::mm", at + for_us, 5)
        builder.kernel("gemm", at + for_us + 6, 9_990 - for_us, launch_at_us=at + for_us)
        builder.sync(at + for_us + 10, 9_990 - for_us)
    return builder.build()


def fires() -> Trace:
    return _inputs(3_000)


def stays_quiet() -> Trace:
    """As long in torch's own Python."""
    return _inputs(3_000, "torch/nn/modules/module.py(1532): _call_impl")


def abstains() -> Trace:
    return TraceBuilder().frame("skimage/transform.py(9): resize", 0, 3_000).call("cudaMemcpyAsync", 0, 20).build()
