"""One long stretch of kernels on an A100: fp32 products among elementwise ones."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "60 % of the kernel time is fp32 arithmetic without tensor cores",
    {"fp32_ms": 0.6, "kernel_ms": 1.0, "fp32_share": 0.6},
    saving_share=0.396,
    basis="simulated with these kernels 1.5×",
    change="set_float32_matmul_precision",
)


def _kernels(product: str, for_us: float, *, described: bool = True) -> Trace:
    builder = TraceBuilder()
    if described:
        builder.device(0, "NVIDIA A100-SXM4-80GB", compute_capability=(8, 0))
    builder.kernel(product, 6, for_us, launch_at_us=0)
    builder.kernel("vectorized_elementwise_kernel", 6 + for_us, 1000 - for_us, launch_at_us=10)
    return builder.sync(20, 990).build()


def fires() -> Trace:
    return _kernels("ampere_sgemm_128x64_tn", 600)


def stays_quiet() -> Trace:
    return _kernels("ampere_sgemm_128x64_tn", 99)


def abstains() -> Trace:
    """Whether the device has tensor cores is not known."""
    return _kernels("ampere_sgemm_128x64_tn", 600, described=False)
