"""The allocator's statistics after a run on a device of 16 GiB."""

from gpuprof.model.memory import Allocator
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30

EXPECTED = Expected(
    Severity.MEDIUM,
    "Memory peaks at 95 % of the device",
    {"peak_reserved_bytes": int(15.2 * GIB), "memory_bytes": 16 * GIB, "allocation_retries": 0},
    change="torch.autocast",
)


def _run(reserved_gib: float, *, limit_gib: int | None = 16) -> Trace:
    reserved = int(reserved_gib * GIB)
    builder = TraceBuilder().kernel("ampere_sgemm_128x64_tn", 0, 100, launch_at_us=0)
    if limit_gib is not None:
        builder.device(0, "NVIDIA Test", memory_bytes=limit_gib * GIB)
    allocator = Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=GIB,
        reserved_after_bytes=reserved,
        peak_allocated_bytes=reserved - GIB,
        peak_reserved_bytes=reserved,
        retries=0,
        ooms=0,
    )
    return builder.context(allocators=(allocator,)).build()


def fires() -> Trace:
    return _run(15.2)


def stays_quiet() -> Trace:
    return _run(14.3)


def abstains() -> Trace:
    return _run(15.2, limit_gib=None)
