"""Five readings under load of a link with 4 of 16 lanes, and copies that take a tenth of the time."""

import msgspec

from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "The PCIe link runs at 25 % of what device and machine allow",
    {"link_width": 4, "possible_width": 16, "link_generation": 4, "exposed_copies_ms": 1.0},
    saving_share=0.075,
    change="another slot",
)


def _run(lanes: int, readings: int = 5, bytes: int = 700_000) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).copy("h2d", at, 100, bytes=bytes, host_memory="pinned", launch_at_us=at)
        builder.kernel("gemm", at + 100, 900, launch_at_us=at + 10)
    for tick in range(readings):
        builder.sample(100 * tick, utilisation_percent=90, pcie_generation=4, pcie_width=lanes)
    facts = DeviceFacts(name="Test GPU", pcie_max_generation=4, pcie_max_width=16)
    return builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()


def fires() -> Trace:
    return _run(4)


def stays_quiet() -> Trace:
    """Copies of 20 GB/s do not go through the link of 8 GB/s that the driver gives."""
    return _run(4, bytes=2 << 20)


def abstains() -> Trace:
    return _run(4, readings=4)
