"""Ten products of one row with a matrix of 32 MiB in bf16, one after the other, and another kernel."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Reading weights for few rows takes 60 % of the kernel time",
    {"products": 10, "rows": 1, "weights_bytes": 10 * 32 << 20, "weights_ms": 0.6, "bandwidth_gb_per_s": 559.2},
    saving_share=0.24,
    change="quantise the weights",
)


def _products(for_us: float, *, shapes: bool = True) -> Trace:
    builder = TraceBuilder()
    dims = "[[1, 4096], [4096, 4096]]" if shapes else None
    for at in range(0, 1000, 100):
        builder.operator("aten::mm", at, 20, dims=dims, types='["c10::BFloat16", "c10::BFloat16"]')
        builder.kernel("gemvx_kernel<__nv_bfloat16>", at, for_us, launch_at_us=at)
        builder.operator("aten::cumsum", at + 30, 10).kernel("scan", at + for_us, 100 - for_us, launch_at_us=at + 30)
    return builder.build()


def fires() -> Trace:
    return _products(60)


def stays_quiet() -> Trace:
    return _products(49)


def abstains() -> Trace:
    """Products with a vector by their kernels' names, but no shapes."""
    return _products(60, shapes=False)
