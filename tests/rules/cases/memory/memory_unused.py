"""Steps of 1 ms of which 200 µs are the optimizer's kernels, on a device of 16 GiB."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import allocator, run

EXPECTED = Expected(
    Severity.MEDIUM,
    "20 % of the steps’ time is the optimizer, and half of the memory is free",
    {"optimizer_ms": 0.6, "optimizer_share": 0.2, "batch_size": 8, "batches_that_fit": 2},
    saving_share=0.1,
    change="Double the batch from 8 to 16",
)


def _steps(optimizer_us: int, *, peak_gib: float | None = 7) -> Trace:
    allocators = () if peak_gib is None else (allocator(peak_gib, peak_gib + 1),)
    builder = run(allocators=allocators, loaders=(Loader(workers=0, batch_size=8),))
    for at in range(0, 3000, 1000):
        builder.step(at, 1000)
        builder.kernel("gemm", at + (100 if at == 0 else 0), 1000 - optimizer_us - (100 if at == 0 else 0))
        builder.optimizer_step("AdamW", at + 500, 100)
        builder.kernel("fused_adam", at + 1000 - optimizer_us, optimizer_us, launch_at_us=at + 550)
    return builder.build()


def fires() -> Trace:
    return _steps(200)


def stays_quiet() -> Trace:
    """9.9 % of the step."""
    return _steps(99)


def abstains() -> Trace:
    return _steps(200, peak_gib=None)
