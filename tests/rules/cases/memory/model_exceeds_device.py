"""A run that ran out of memory on a device of 16 GiB."""

from gpuprof.model.context import CellOutcome
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, allocator, run, weighed

EXPECTED = Expected(
    Severity.HIGH,
    "Model and optimizer take 81 % of the device that ran out of memory",
    {"kept_bytes": 13 * GIB, "memory_bytes": 16 * GIB, "state_bytes": 6.5 * GIB},
    change="shard over more devices",
)


def _run(state_gib: float, *, known: bool = True) -> Trace:
    return run(
        allocators=(allocator(15, 15.5, ooms=1),),
        compositions=(weighed(3.25, 3.25, state_gib),) if known else (),
        outcome=CellOutcome(error="OutOfMemoryError", message="CUDA out of memory"),
    ).build()


def fires() -> Trace:
    return _run(6.5)


def stays_quiet() -> Trace:
    """79 % of the device."""
    return _run(6.14)


def abstains() -> Trace:
    return _run(6.5, known=False)
