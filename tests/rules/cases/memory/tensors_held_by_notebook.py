"""An output, a name and a traceback hold tensors on a device of 16 GiB."""

from gpuprof.model.context import Environment
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.memory.memory_runs import GIB, allocator, gib, run

EXPECTED = Expected(
    Severity.MEDIUM,
    "The notebook holds 900 MiB of tensors that this cell does not use",
    {"held_bytes": gib(900 / 1024), "memory_bytes": 16 * GIB, "names": "old, Out[3], big in f()"},
    change="run `%xdel old`, `%xdel _3`; for the last traceback run `1/0`",
)


def _held(name: str, kind: str, mib: int, *, used: bool = False) -> HeldTensors:
    return HeldTensors(name=name, kind=kind, device="cuda:0", bytes=mib << 20, tensors=1, used=used)


def _run(mib: int) -> Trace:
    held = (
        _held("net", "module", 5000, used=True),
        _held("old", "global", mib),
        _held("Out[3]", "output", 200),
        _held("big in f()", "traceback", 100),
    )
    return run(held=held, allocators=(allocator(12, 13),)).build()


def fires() -> Trace:
    return _run(600)


def stays_quiet() -> Trace:
    """4.9 % of the device."""
    return _run(502)


def abstains() -> Trace:
    return run(environment=Environment(front_end="ipykernel 7.4.0"), allocators=(allocator(12, 13),)).build()
