"""Five times a product and four elementwise kernels of the same length."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Chains of elementwise kernels take 40 % of the kernel time",
    {"chains": 5, "chain_kernels": 20, "chain_ms": 2.0, "longest_kernels_ms": 0.5, "saved_share": 0.3},
    saving_share=0.238,
    basis="simulated with each chain",
    change="torch.compile",
)

NAMES = ("aten::pow", "aten::add", "aten::rsqrt", "aten::mul")


def _chains(for_us: float, *, recorded: bool = True) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 5050, 1010):
        for number, name in enumerate(NAMES):
            builder.operator(name, at + 10 * number, 9)
            if recorded:
                start = at + 6 + number * for_us
                builder.kernel("vectorized_elementwise_kernel<4>", start, for_us, launch_at_us=at + 10 * number)
            else:
                builder.call("cudaLaunchKernel", at + 10 * number, 5)
        builder.operator("aten::addmm", at + 50, 9)
        if recorded:
            builder.kernel("gemm", at + 6 + 4 * for_us, 1000 - 4 * for_us, launch_at_us=at + 50)
            builder.sync(at + 65, 944)
    return builder.build()


def fires() -> Trace:
    return _chains(100)


def stays_quiet() -> Trace:
    """One kernel instead of each four would save 9.9 % of the kernel time."""
    return _chains(33)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _chains(100, recorded=False)
