"""Fifty launches of 20 µs apart, each of which waits for its kernel of 10 µs."""

import sysconfig

from gpuprof.model.context import Cell, Environment
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "A mode for finding faults is on: blocking launches (`CUDA_LAUNCH_BLOCKING=1`)",
    {"blocking_launches": 46, "host_blocked_ms": 0.69},
    saving_share=0.5,
    change="CUDA_LAUNCH_BLOCKING",
)


def _launches(blocking: int) -> TraceBuilder:
    builder = TraceBuilder()
    for number in range(50):
        at, takes = 20 * number, 15 if number < blocking else 4
        builder.kernel("gemm", at + 4, 10, launch_at_us=at, launch_for_us=takes)
    return builder.operator("aten::mm", 990, 10)


def fires() -> Trace:
    return _launches(46).build()


def stays_quiet() -> Trace:
    return _launches(44).context(environment=Environment(deterministic=False, anomaly_mode=False)).build()


def abstains() -> Trace:
    """A trace file with ordinary launches."""
    return _launches(0).build()


def checked(each_us: float, *, anomaly: bool = False) -> Trace:
    """A cell of 1 ms, of which x in checks: of distributions, or in formatting stacks for anomaly detection."""
    line, library = (CELL_FILE, "<module>", 4), sysconfig.get_paths()["purelib"]
    frame = (f"{library}/torch/distributions/distribution.py", "Distribution.__init__", 60)
    within = (f"{library}/torch/distributions/constraints.py", "_Real.check", 9)
    if anomaly:
        frame = (f"{library}/torch/fx/traceback.py", "format_stack", 300)
        within = (f"{library}/torch/fx/traceback.py", "format_stack", 301)
    builder = TraceBuilder().operator("aten::mm", 0, 1000).stack(0, 1000 - each_us, line)
    builder.stack(1000 - each_us, each_us / 2, line, frame).stack(1000 - each_us / 2, each_us / 2, line, frame, within)
    flags = Environment(deterministic=False, anomaly_mode=anomaly)
    return builder.context(environment=flags, cell=Cell(source="\n" * 9, filename=CELL_FILE)).build()
