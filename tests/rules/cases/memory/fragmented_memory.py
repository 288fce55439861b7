"""An allocator that had to retry with memory to spare, on a device of 16 GiB."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, allocator, run

EXPECTED = Expected(
    Severity.HIGH,
    "33 % of the reserved memory holds no tensor at the peak",
    {"unused_reserved_bytes": 5 * GIB, "peak_allocated_bytes": 10 * GIB, "allocation_retries": 3},
    change="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
)


def _run(peak_gib: float, *, limit_gib: float | None = 16) -> Trace:
    return run(limit_gib=limit_gib, allocators=(allocator(peak_gib, 15, retries=3),)).build()


def fires() -> Trace:
    return _run(10)


def stays_quiet() -> Trace:
    """29 % of what is reserved."""
    return _run(10.65)


def abstains() -> Trace:
    return _run(10, limit_gib=None)
