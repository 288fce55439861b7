"""One stretch of kernels: a convolution with its layout kernels around it, and others."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Reordering tensors for convolutions takes 30 % of the kernel time",
    {"layout_kernels": 3, "layout_ms": 0.3, "convolution_ms": 0.7, "layout_share": 0.3},
    saving_share=0.238,
    basis="simulated without these kernels",
    change="memory_format=torch.channels_last",
)

THERE = "void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>(P)"
BACK = "void cudnn::ops::nhwcToNchwKernel<__half, __half, float, true, false>(P)"


def _kernels(layout_us: float, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder().operator("aten::cudnn_convolution", 0, 30)
    if not recorded:
        return builder.call("cudaLaunchKernel", 1, 5).build()
    each = layout_us / 3
    convolution = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"
    builder.kernel(THERE, 6, each, launch_at_us=0).kernel(THERE, 6 + each, each, launch_at_us=6)
    builder.kernel(convolution, 6 + 2 * each, 1000 - layout_us, launch_at_us=12)
    return builder.kernel(BACK, 1006 - each, each, launch_at_us=18).sync(30, 980).build()


def fires() -> Trace:
    return _kernels(300)


def stays_quiet() -> Trace:
    return _kernels(19)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _kernels(300, recorded=False)
