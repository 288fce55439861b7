"""One long stretch of kernels on a device: fp64 arithmetic among fp32."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "40 % of the kernel time is double precision",
    {"float64_ms": 0.4, "kernel_ms": 1.0, "float64_share": 0.4, "float64_products_ms": 0.3, "operators": "aten::mm"},
    saving_share=0.198,
    basis="simulated with these kernels at the speed of fp32",
    change=".float()",
)


def _kernels(double_us: float, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder().operator("aten::mm", 0, 30)
    if not recorded:
        return builder.call("cudaLaunchKernel", 1, 5).build()
    products, other = double_us * 0.75, double_us / 4
    builder.kernel("ampere_dgemm_128x64_tn", 6, products, launch_at_us=0)
    builder.kernel("elementwise_kernel<4, CUDAFunctor_add<double> >", 6 + products, other, launch_at_us=10)
    builder.kernel("ampere_sgemm_128x64_tn", 6 + double_us, 1000 - double_us, launch_at_us=20)
    return builder.sync(30, 980).build()


def fires() -> Trace:
    return _kernels(400)


def stays_quiet() -> Trace:
    return _kernels(19)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _kernels(400, recorded=False)
