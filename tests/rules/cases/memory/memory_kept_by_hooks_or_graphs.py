"""A loop over a validation set that collects outputs with their graphs, on a device of 16 GiB."""

from gpuprof.model.context import Cell, Environment
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, allocator, gib, run

MIB = 1 << 20
SOURCE = """for x, y in loader:
    train(x, y)
net.eval()
outputs = []
for x, y in valid:
    outputs.append(net(x))
"""

EXPECTED = Expected(
    Severity.HIGH,
    "`outputs` keeps 100 results with their graphs: 4.00 GiB",
    {"kept_bytes": gib(4), "grown_bytes": gib(5), "explained_share": 0.8, "tensors": 100, "names": "outputs"},
    lines=(6,),
    change="under `torch.no_grad()`",
)


def _run(kept_gib: float = 4, *, grown_gib: float = 5, peak_gib: float = 6, tensors: int = 100) -> Trace:
    held = HeldTensors(
        name="outputs",
        kind="global",
        device="cuda:0",
        bytes=MIB,
        tensors=tensors,
        graphs=tensors,
        used=True,
        graph_bytes=gib(kept_gib),
    )
    memory = allocator(peak_gib, peak_gib, allocated_after_bytes=gib(grown_gib) + GIB, allocated_before_bytes=GIB)
    return run(held=(held,), allocators=(memory,), cell=Cell(source=SOURCE)).build()


def fires() -> Trace:
    return _run()


def stays_quiet() -> Trace:
    """Just less than two fifths of what memory grew by."""
    return _run(1.99)


def abstains() -> Trace:
    return run(environment=Environment(front_end="ipykernel 7.4.0"), allocators=(allocator(12, 13),)).build()
