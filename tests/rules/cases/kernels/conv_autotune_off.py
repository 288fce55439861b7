"""Five steps of 1 ms, filled by a convolution of the same grid and other kernels."""

from gpuprof.model.context import Environment
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.LOW,
    "cuDNN does not try out which convolution algorithms are fastest",
    {"convolution_ms": 2.0, "convolution_share": 0.4, "cudnn_benchmark": "off"},
    saving_share=0.02,
    change="torch.backends.cudnn.benchmark = True",
)


def _steps(convolution_us: float, *, benchmark: bool | None = False, varying: bool = False) -> Trace:
    builder = TraceBuilder().context(environment=Environment(cudnn_benchmark=benchmark))
    for number in range(5):
        at = 1000 * number
        builder.step(at, 1000).operator("aten::cudnn_convolution", at, 20)
        blocks = 100 + number if varying else 100
        name = "implicit_convolve_sgemm<float, float>"
        builder.kernel(name, at, convolution_us, launch_at_us=at, blocks=blocks, block_threads=128)
        builder.kernel("batch_norm", at + convolution_us, 1000 - convolution_us, launch_at_us=at + 10)
    return builder.build()


def fires() -> Trace:
    return _steps(400)


def stays_quiet() -> Trace:
    """The same convolutions, each step with another grid: the shapes vary."""
    return _steps(400, varying=True)


def abstains() -> Trace:
    """The setting is not known."""
    return _steps(400, benchmark=None)
