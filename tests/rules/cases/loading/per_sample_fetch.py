"""The loop of `slow_transform` with two workers, whose samples wait rather than compute."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.loading.slow_transform import loop, timed
from tests.rules.expected import Expected

EXPECTED = Expected(
    Severity.HIGH,
    "Samples are fetched one by one; 90 % of the fetching is waiting",
    {"waits_per_sample": 2, "processors_used": 0.1, "sample_ms": 3.9, "workers": 2},
    lines=(3,),
    saving_share=0.6,
    basis="no sample waits",
    change="`__getitems__(self, indices)`",
)


def fires() -> Trace:
    return loop(timed(resize_ms=0.1, cpu_share=0.1, blocked=200), workers=2, cores=3)


def stays_quiet() -> Trace:
    """A processor is used a quarter of the time."""
    return loop(timed(resize_ms=0.1, cpu_share=0.25, blocked=200), workers=2, cores=3)


def abstains() -> Trace:
    """The system does not say how often a thread waited."""
    return loop(timed(resize_ms=0.1, cpu_share=0.1, blocked=None), workers=2, cores=3)
