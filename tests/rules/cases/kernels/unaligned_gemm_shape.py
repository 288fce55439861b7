"""One stretch of kernels: products over a vocabulary of 50,257 among others."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "60 % of the kernel time goes into products on unaligned sizes",
    {"unaligned_ms": 0.6, "kernel_ms": 1.0, "unaligned_share": 0.6, "sizes": "50257"},
    saving_share=0.198,
    basis="simulated with these products 1.1×",
    change="Round the sizes 50257 up",
)

UNALIGNED = "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(P)"


def _kernels(for_us: float, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder()
    builder.operator("aten::mm", 0, 30, dims="[[8192, 768], [768, 50257]]", types='["c10::BFloat16", "c10::BFloat16"]')
    if not recorded:
        return builder.call("cudaLaunchKernel", 1, 5).build()
    builder.kernel(UNALIGNED, 6, for_us, launch_at_us=0)
    aligned = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8"
    return builder.kernel(aligned, 6 + for_us, 1000 - for_us, launch_at_us=10).sync(30, 980).build()


def fires() -> Trace:
    return _kernels(600)


def stays_quiet() -> Trace:
    return _kernels(99)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _kernels(600, recorded=False)
