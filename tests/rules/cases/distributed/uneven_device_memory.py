"""Three ranks on devices of 80 GB; rank 0 holds 60 GB, the others less."""

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

GB = 10**9

EXPECTED = Expected(
    Severity.LOW,
    "Peaks of memory lie 33 % apart between ranks; rank 0’s is highest",
    {"rank": 0, "ranks": 3, "highest_peak_bytes": 60 * GB, "lowest_peak_bytes": 40 * GB},
    change="map_location",
)


def rank(number: int, peak_gb: int | None) -> Trace:
    builder = TraceBuilder().source(rank=number).device(memory_bytes=80 * GB)
    builder.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 100)
    if peak_gb is not None:
        builder.memory(0, GB, allocated=peak_gb * GB, reserved=peak_gb * GB)
    return builder.build()


def fires() -> Results:
    return Results(rank(0, 60), (rank(1, 40), rank(2, 45)))


def stays_quiet() -> Results:
    """19 % apart."""
    return Results(rank(0, 60), (rank(1, 49), rank(2, 52)))


def abstains() -> Results:
    """No memory was recorded."""
    return Results(rank(0, None), (rank(1, None), rank(2, None)))
