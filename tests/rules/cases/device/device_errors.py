"""Two new uncorrected errors between the beginning and the end."""

import msgspec

from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The device had uncorrected memory errors during the run",
    {"uncorrected_errors": 2, "devices_lost": 0},
    change="XID",
)


def _run(*facts: DeviceFacts) -> Trace:
    builder = TraceBuilder().kernel("gemm", 0, 100, launch_at_us=0)
    return builder.context(sampling={"static": [msgspec.to_builtins(each) for each in facts]}).build()


def fires() -> Trace:
    return _run(DeviceFacts(name="Test GPU", ecc_uncorrected=2))


def stays_quiet() -> Trace:
    return _run(DeviceFacts(name="Test GPU", ecc_uncorrected=0))


def abstains() -> Trace:
    return _run()
