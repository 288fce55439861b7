"""Ten steps of 1 ms on the host, each with a full collection."""

from gpuprof.model.context import Garbage
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Python’s garbage collector stops the loop for 10 % of the steps’ time",
    {"collections": 10, "full_collections": 10, "pauses_ms": 1.0, "pause_share": 0.1},
    saving_share=0.1,
    change="gc.collect()",
)


def _steps(pause_us: float) -> TraceBuilder:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::mm", at, 1000)
    starts = tuple(range(500_000, 10_000_000, 1_000_000))
    lengths = (round(pause_us * 1000),) * 10
    garbage = Garbage(collections=10, start_ns=starts, duration_ns=lengths, generation=(2,) * 10)
    return builder.context(garbage=garbage)


def fires() -> Trace:
    return _steps(100).build()


def stays_quiet() -> Trace:
    return _steps(9.9).build()


def abstains() -> Trace:
    """A trace file."""
    return _steps(100).context(garbage=None).build()
