"""A device on which the driver listed one process beside this one, from the beginning to the end."""

import msgspec

from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30
OWN, OTHER = DeviceProcess(pid=1, used_bytes=GIB), DeviceProcess(pid=7, used_bytes=6 * GIB)

EXPECTED = Expected(
    Severity.MEDIUM,
    "1 other process used the device during the run",
    {"other_processes": 1, "other_processes_bytes": 6 * GIB, "memory_share": 0.375},
    change="nvidia-smi",
)


def _run(start: tuple[DeviceProcess, ...] | None, end: tuple[DeviceProcess, ...] | None) -> Trace:
    facts = DeviceFacts(name="Test GPU", memory_bytes=16 * GIB, processes_start=start, processes_end=end)
    builder = TraceBuilder().kernel("gemm", 0, 100, launch_at_us=0)
    return builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()


def fires() -> Trace:
    return _run((OTHER,), (OWN, OTHER))


def stays_quiet() -> Trace:
    """It left before the end."""
    return _run((OWN, OTHER), (OWN,))


def abstains() -> Trace:
    return _run(None, (OWN, OTHER))
