"""One long stretch of kernels on an H100: attention on fp32 operands, products in bf16, and elementwise kernels."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "50 % of the kernel time goes to fp32 operands in a half-precision model",
    {"fp32_ms": 0.5, "half_ms": 0.2, "kernel_ms": 1.0, "fp32_share": 0.5},
    saving_share=0.33,
    basis="simulated with these kernels 1.5×",
    change="q.to(v.dtype)",
)
ATTENTION = "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)"


def _kernels(
    attention_us: float, *, product: str = "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN", beside_us: float = 0
) -> Trace:
    builder = TraceBuilder().device(0, "NVIDIA H100 80GB HBM3", compute_capability=(9, 0))
    builder.kernel(ATTENTION, 6, attention_us, launch_at_us=0)
    builder.kernel(product, 6 + attention_us, 200, launch_at_us=10)
    at = 206 + attention_us
    if beside_us:
        builder.kernel("ampere_sgemm_128x64_tn", at, beside_us, launch_at_us=15)
    builder.kernel("vectorized_elementwise_kernel", at + beside_us, 1006 - at - beside_us, launch_at_us=20)
    return builder.sync(30, 980).build()


def fires() -> Trace:
    return _kernels(500)


def stays_quiet() -> Trace:
    """A model that multiplies in fp32 as a whole."""
    return _kernels(500, product="ampere_sgemm_128x64_tn")


def abstains() -> Trace:
    """Without a device there are no kernels."""
    return TraceBuilder().operator("aten::mm", 0, 100).build()
