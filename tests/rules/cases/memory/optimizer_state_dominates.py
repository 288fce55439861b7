"""AdamW in fp32 on a device of 16 GiB, with little beside it."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, adam, allocator, run, weighed

EXPECTED = Expected(
    Severity.MEDIUM,
    "The optimizer’s state takes 48 % of the memory peak",
    {"state_bytes": 6 * GIB, "parameter_bytes": 3 * GIB, "peak_allocated_bytes": 12.5 * GIB, "optimizer": "AdamW"},
    lines=(3,),
    change="about 1.50 GiB instead of 6.00 GiB",
)


def _run(state_gib: float, *, known: bool = True) -> Trace:
    parts = (weighed(3, 3, state_gib),) if known else ()
    elements = int(state_gib * GIB / 8)
    return run(allocators=(allocator(12.5, 13),), compositions=parts, optimizers=(adam(elements),)).build()


def fires() -> Trace:
    return _run(6)


def stays_quiet() -> Trace:
    """39 % of the peak."""
    return _run(4.9)


def abstains() -> Trace:
    return _run(6, known=False)
