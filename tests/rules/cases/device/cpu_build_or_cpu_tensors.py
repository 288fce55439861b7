"""Ten multiplications of 300 µs in 10 ms on the CPU, beside a device that nobody uses."""

import msgspec

from gpuprof.model.context import Environment
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The heavy work ran on the CPU, though there is a Test GPU",
    {"heavy_operators": 10, "heavy_ms": 3.0, "heavy_share": 0.3, "cuda_build": "12.8"},
    change='.to("cuda")',
)


def _run(number: int, each_us: float, sampling: dict[str, object], cuda: str | None = "12.8") -> Trace:
    builder = TraceBuilder().operator("aten::add", 9_990, 10)
    for at in range(0, 500 * number, 500):
        builder.operator("aten::linear", at, each_us).operator("aten::addmm", at, each_us)
    builder.operator("aten::add", 0, 1)
    return builder.context(environment=Environment(cuda_build=cuda), sampling=sampling).build()


_THERE: dict[str, object] = {"static": [msgspec.to_builtins(DeviceFacts(name="Test GPU"))]}


def fires() -> Trace:
    return _run(10, 300, _THERE)


def stays_quiet() -> Trace:
    """As much time in smaller ones."""
    return _run(20, 99, _THERE)


def abstains() -> Trace:
    """Nobody asked the driver."""
    return _run(10, 300, {})
