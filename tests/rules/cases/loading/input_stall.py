"""Ten steps of 100 ms that begin with a wait for the batch; the device works in the rest of them."""

from gpuprof.model.context import Environment, Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The device waits for data 30 % of the steps’ time",
    {"wait_ms": 300, "device_idle_in_wait_ms": 300, "batches": 10, "workers": 0, "workers_needed": 1, "cores": 4},
    lines=(3,),
    saving_share=0.3,
    basis="upper bound: simulated with 1 worker",
    change="num_workers=1",
)


def _loop(wait_us: float) -> TraceBuilder:
    builder = TraceBuilder().context(loaders=(Loader(workers=0, line=3),), environment=Environment(cores_allowed=4))
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, wait_us).operator("aten::stack", at, wait_us)
        builder.kernel("gemm", at + wait_us + 6, 100_000 - wait_us - 20, launch_at_us=at + wait_us)
        builder.sync(at + wait_us + 10, 100_000 - wait_us - 20)
    return builder


def fires() -> Trace:
    return _loop(30_000).build()


def stays_quiet() -> Trace:
    return _loop(4_900).build()


def abstains() -> Trace:
    """Launches, but no device events: whether the device was idle cannot be said."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, 300).operator("aten::stack", at, 300)
        builder.call("cudaLaunchKernel", at + 400, 5)
    return builder.build()
