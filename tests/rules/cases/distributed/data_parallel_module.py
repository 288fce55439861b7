"""Steps of 1 ms, of which DataParallel takes part, on two devices."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "torch.nn.DataParallel copies the model to 2 devices in every step",
    {"calls": 3, "devices": 2, "forward_ms": 1.2, "forward_share": 0.4, "idle_ms": 0.6},
    saving_share=0.2,
    change="torchrun --nproc-per-node=2",
)


def _steps(forward_us: int, devices: tuple[int, ...]) -> Trace:
    """Both devices work in the second half of forward, and until the end of the step."""
    builder = TraceBuilder()
    for at in range(0, 3000, 1000):
        builder.step(at, 1000).span("DataParallel.forward", at, forward_us)
        builder.call("cudaLaunchKernel", at, 5)
        for device in devices:
            builder.kernel("gemm", at + forward_us / 2, 1000 - forward_us / 2, device=device)
    return builder.build()


def fires() -> Trace:
    return _steps(400, (0, 1))


def stays_quiet() -> Trace:
    """2.9 % of the step."""
    return _steps(29, (0, 1))


def abstains() -> Trace:
    return _steps(400, ())
