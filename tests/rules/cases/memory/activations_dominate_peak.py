"""Three training steps whose allocator rows rise in forward and fall in backward."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30

EXPECTED = Expected(
    Severity.MEDIUM,
    "Activations make 60 % of the memory peak of 10.0 GiB",
    {"activations_bytes": 6 * GIB, "peak_allocated_bytes": 10 * GIB, "memory_bytes": 16 * GIB},
    change="torch.utils.checkpoint",
)


def _steps(kept_gib: float, *, limit_gib: float | None = 16, stays_gib: float = 4) -> Trace:
    """Three steps: `stays_gib` are live all the time, forward adds `kept_gib`, backward releases them."""
    builder = TraceBuilder().operator("aten::linear", 0, 100)
    if limit_gib is not None:
        builder.device(0, "NVIDIA Test", memory_bytes=int(limit_gib * GIB))
    stays, kept = int(stays_gib * GIB), int(kept_gib * GIB)
    for at in range(0, 3000, 1000):
        builder.step(at, 1000)
        builder.memory(at + 10, 512, allocated=stays, reserved=stays + kept, address=1)
        builder.memory(at + 400, kept, allocated=stays + kept, reserved=stays + kept, address=2)
        builder.operator("autograd::engine::evaluate_function: MmBackward0", at + 500, 400)
        builder.memory(at + 800, -kept, allocated=stays, reserved=stays + kept, address=2)
    return builder.build()


def fires() -> Trace:
    return _steps(6)


def stays_quiet() -> Trace:
    """49 % of the peak."""
    return _steps(4.9, stays_gib=5.1)


def abstains() -> Trace:
    return _steps(6, limit_gib=None)
