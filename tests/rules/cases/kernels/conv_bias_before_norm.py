"""Five training steps of 1 ms: convolution, its bias, batch norm, and the bias's gradient."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Biases without effect take 10 % of the steps’ time",
    {"convolutions": 5, "bias_ms": 0.25, "bias_gradient_ms": 0.25},
    saving_share=0.1,
    change="bias=False",
)

BACKWARD = "autograd::engine::evaluate_function: ConvolutionBackward0"


def _steps(bias_us: float, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder()
    for number in range(5):
        at = 1000 * number
        builder.thread("main").step(at, 1000).operator("aten::conv2d", at, 100, sequence=number)
        builder.operator("aten::_convolution", at + 1, 98).operator("aten::cudnn_convolution", at + 2, 20)
        builder.operator("aten::add_", at + 30, 20).operator("aten::add_", at + 110, 5)
        builder.operator("aten::batch_norm", at + 120, 50, sequence=number + 100)
        builder.thread("autograd").operator(BACKWARD, at + 200, 50, sequence=number)
        builder.operator("aten::sum", at + 210, 20)
        if not recorded:
            builder.call("cudaLaunchKernel", at + 211, 5)
            continue
        builder.kernel("reduce_kernel<512>", at + 1000 - bias_us, bias_us, launch_at_us=at + 211).thread("main")
        builder.kernel("cudnn_conv", at, 1000 - 2 * bias_us, launch_at_us=at + 3)
        builder.kernel("elementwise_kernel", at + 1000 - 2 * bias_us, bias_us, launch_at_us=at + 31)
    return builder.build()


def fires() -> Trace:
    return _steps(50)


def stays_quiet() -> Trace:
    """0.4 % of the time."""
    return _steps(2)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _steps(50, recorded=False)
