"""A device of the generation after those that torch was compiled for."""

from gpuprof.model.context import Environment
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "This torch has no code for a device of compute capability 12.0",
    {"compute_capability": "12.0", "compiled_for": "8.0, 8.6, 9.0"},
    change="12.0",
)


def _run(capability: tuple[int, int], *built: str) -> Trace:
    builder = TraceBuilder().device(0, "Test GPU", compute_capability=capability).kernel("gemm", 0, 9, launch_at_us=0)
    return builder.context(environment=Environment(torch="2.6.0", architectures=built)).build()


def fires() -> Trace:
    return _run((12, 0), "sm_80", "sm_86", "sm_90a", "compute_90")


def stays_quiet() -> Trace:
    """Code for 8.0 runs on 8.9."""
    return _run((8, 9), "sm_80", "sm_90")


def abstains() -> Trace:
    return _run((8, 9))
