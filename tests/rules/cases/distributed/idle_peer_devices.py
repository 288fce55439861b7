"""One of two devices trains; the driver was read ten times."""

from gpuprof.model.context import Environment
from gpuprof.model.device import Device
from gpuprof.model.readings import DeviceFacts, ReadingLog
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.LOW,
    "1 visible device stands idle while one trains",
    {"visible_devices": 2, "idle_devices": 1, "compute_share": 1.0, "readings": 20},
    change="torchrun --nproc-per-node=2",
)


def _run(busy_samples: int, *, sampled: bool = True) -> Trace:
    devices = (Device(id=0, name="A"), Device(id=1, name="B"))
    static = (DeviceFacts(torch_index=0, processes_end=()), DeviceFacts(torch_index=1, processes_end=()))
    log = ReadingLog(static=static if sampled else ())
    builder = TraceBuilder().context(environment=Environment(devices=devices), sampling=log.facts_dict())
    for at in range(0, 1000, 100):
        builder.kernel("gemm", at, 100, device=0)
    builder.optimizer_step("SGD", 0, 10)
    for tick in range(20 if sampled else 0):
        builder.sample(tick, device=0, utilisation_percent=95.0)
        builder.sample(tick, device=1, utilisation_percent=30.0 if tick < busy_samples else 0.0)
    return builder.build()


def fires() -> Trace:
    return _run(1)


def stays_quiet() -> Trace:
    """A kernel in a tenth of the readings: somebody uses it."""
    return _run(2)


def abstains() -> Trace:
    return _run(0, sampled=False)
