"""A loop that collects losses with their graphs: readings after ten steps, on a device of 16 GiB."""

from gpuprof.model.context import Cell
from gpuprof.model.memory import StepMemory
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, adam, allocator, run

MIB = 1 << 20
SOURCE = """losses = []
for x, y in loader:
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss)
"""

EXPECTED = Expected(
    Severity.HIGH,
    "Every step leaves 10.0 MiB more in the memory of device 0",
    {"growth_per_step_bytes": 10 * MIB, "grown_bytes": 70 * MIB, "steps_until_full": 614, "kept_in": "losses"},
    lines=(6,),
    change="`loss.detach()`",
)


def _run(growth_mib: float, *, steps: int = 10) -> Trace:
    readings = StepMemory(
        device=0,
        step=tuple(range(1, steps + 1)),
        time_ns=tuple(1000 * number for number in range(1, steps + 1)),
        allocated_bytes=tuple(GIB + int(number * growth_mib * MIB) for number in range(steps)),
        reserved_bytes=(GIB,) * steps,
    )
    context = {"cell": Cell(source=SOURCE), "optimizers": (adam(1),), "allocators": (allocator(10, 11),)}
    return run(step_memory=(readings,), **context).build()


def fires() -> Trace:
    return _run(10)


def stays_quiet() -> Trace:
    """Room for 10,240 more steps."""
    return _run(0.6)


def abstains() -> Trace:
    return _run(10, steps=5)
