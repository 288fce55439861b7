"""Ten steps of 1 ms, of which the first and three later ones compile."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "torch.compile still compiles after the first steps, for 30 % of their time",
    {"steps_with": 3, "compiles": 3, "compile_ms": 2.4, "compile_share": 0.3},
    saving_share=0.24,
    change="mark_dynamic",
)


def _steps(compiling: tuple[int, ...], *, marked: bool = True) -> Trace:
    builder = TraceBuilder()
    for number in range(10):
        at = 1000 * number
        if marked:
            builder.step(at, 1000)
        if number in compiling:
            builder.operator("_compile.compile_inner (dynamo_timed)", at + 100, 800)
        builder.operator("aten::mm", at + 950, 50)
    return builder.operator("aten::empty", 0, 1).build()


def fires() -> Trace:
    return _steps((0, 3, 5, 8))


def stays_quiet() -> Trace:
    """One step less."""
    return _steps((0, 1, 3, 5))


def abstains() -> Trace:
    return _steps((0, 3), marked=False)
