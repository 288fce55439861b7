"""Kernels of few blocks on a device with 100 multiprocessors, and memory."""

from gpuprof.model.context import Loader
from gpuprof.model.memory import Allocator
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30

EXPECTED = Expected(
    Severity.MEDIUM,
    "Small kernels leave most of the device unused in 100 % of the kernel time",
    {"waves": 0.4, "peak_allocated_bytes": 2 * GIB, "batch_size": 8},
    saving_share=0.6,
    change="Raise the batch size from 8",
)


def _kernels(blocks: int, peak: int | None) -> Trace:
    builder = TraceBuilder().device(
        0, "NVIDIA Test", memory_bytes=16 * GIB, multiprocessors=100, max_threads_per_multiprocessor=2048
    )
    builder.context(loaders=(Loader(workers=0, batch_size=8),))
    if peak is not None:
        allocator = Allocator(
            device=0,
            allocated_before_bytes=0,
            allocated_after_bytes=0,
            reserved_after_bytes=peak,
            peak_allocated_bytes=peak,
            peak_reserved_bytes=peak,
            retries=0,
            ooms=0,
        )
        builder.context(allocators=(allocator,))
    for at in range(0, 1000, 100):
        builder.kernel("gemm", at, 100, launch_at_us=at, blocks=blocks, block_threads=256)
    return builder.build()


def fires() -> Trace:
    """40 blocks of a product on 100 multiprocessors."""
    return _kernels(40, 2 * GIB)


def stays_quiet() -> Trace:
    """As few blocks, but more than half of the memory is used."""
    return _kernels(40, 9 * GIB)


def abstains() -> Trace:
    return _kernels(40, None)
