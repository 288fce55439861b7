"""Three ranks, seven steps of 10 ms that end with an all-reduce; rank 1 waits for its data and comes late."""

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Rank 1 arrives late: others wait 20 % of step time",
    {
        "rank": 1,
        "ranks": 3,
        "late_ms_per_round": 2,
        "late_steps_share": 1,
        "rounds": 6,
        "last_at_collectives": 6,
        "collectives": 6,
        "waiting_share": 1,
        "more_ms_per_round": 2,
    },
    saving_share=0.2,
    basis="no rank waits for rank 1",
    change="It waits for its DataLoader",
)


def rank(
    number: int, late_us: float = 0, *, wait_us: float = 0, compute_us: float = 0, steps: int = 7, collectives: int = 1
) -> Trace:
    builder = TraceBuilder().source(rank=number)
    for at in range(0, steps * 10_000, 10_000):
        builder.step(at, 10_000).data_wait(at, 500 + wait_us).operator("aten::stack", at, 100)
        builder.kernel("gemm", at + 1_000, 5_000 + compute_us)
        begin = at + 7_000 + late_us
        for part in range(collectives):
            each = (at + 10_000 - begin) / collectives
            builder.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + part * each, each, stream=9)
    return builder.build()


def fires() -> Results:
    return Results(rank(0), (rank(1, 2_000, wait_us=2_000), rank(2)))


def stays_quiet() -> Results:
    """9 % of the step."""
    return Results(rank(0), (rank(1, 900, wait_us=900), rank(2)))


def abstains() -> Trace:
    return rank(0)
