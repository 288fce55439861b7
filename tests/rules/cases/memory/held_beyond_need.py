"""A loop that collects one token of each output, on a device of 16 GiB: each view keeps the whole output."""

from gpuprof.model.context import Cell, Environment
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, allocator, gib, run

MIB = 1 << 20
SOURCE = """features = []
with torch.inference_mode():
    for x in loader:
        tokens = net(x)
        features.append(tokens[:, 0])
"""

EXPECTED = Expected(
    Severity.HIGH,
    "The views in `features` keep 4.00 GiB of unused storage alive",
    {"needless_bytes": gib(4), "saved_bytes": gib(4), "saved_share": 0.6667, "tensors": 100, "names": "features"},
    lines=(5,),
    change="`x[:, 0].clone()`",
)


def _run(unseen_gib: float = 4, *, peak_gib: float = 6) -> Trace:
    held = HeldTensors(
        name="features",
        kind="global",
        device="cuda:0",
        bytes=gib(unseen_gib) + MIB,
        tensors=100,
        used=True,
        graph_bytes=0,
        unseen_bytes=gib(unseen_gib),
    )
    memory = allocator(peak_gib, peak_gib, allocated_after_bytes=gib(unseen_gib) + GIB, allocated_before_bytes=GIB)
    return run(held=(held,), allocators=(memory,), cell=Cell(source=SOURCE)).build()


AVERAGED = """snapshots = []
for x, y in loader:
    train(x, y)
    snapshots.append({k: v.detach().clone() for k, v in net.state_dict().items()})
mean = {k: sum(each[k] for each in snapshots) / len(snapshots) for k in snapshots[0]}
"""


def copied(copies: float, source: str = AVERAGED) -> Trace:
    """One GiB each, of a peak of 12 GiB."""
    held = HeldTensors(
        name="snapshots",
        kind="global",
        device="cuda:0",
        bytes=gib(copies),
        tensors=int(6 * copies),
        used=True,
        graph_bytes=0,
        copies=int(copies),
        copied_bytes=gib(copies),
    )
    memory = allocator(12, 12, allocated_after_bytes=gib(copies) + GIB, allocated_before_bytes=GIB)
    return run(held=(held,), allocators=(memory,), cell=Cell(source=source)).build()


def fires() -> Trace:
    return _run()


def stays_quiet() -> Trace:
    """Just less than a tenth of the peak."""
    return _run(0.59)


def abstains() -> Trace:
    return run(environment=Environment(front_end="ipykernel 7.4.0"), allocators=(allocator(12, 13),)).build()
