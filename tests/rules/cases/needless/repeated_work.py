"""Ten steps of 1 ms, 800 µs of it in operators; in the close look line 3 inverts the same matrix in each iteration."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The same computation is repeated: 50 % of the operators’ time",
    {"repeated_operators": 2, "operators_seen": 4, "repeated_share": 0.5, "result_bytes": 16384},
    lines=(3,),
    saving_share=0.4,
    basis="the same share of the operators",
    change="Keep the result of line 3 (16.0 KiB), which line 4 uses.",
)
SOURCE = "for x in data:\n    k = matrix\n    inverse = k.inverse()\n    y = inverse @ x\n"


def recorded() -> TraceBuilder:
    """The steps: half of the operators' time in each of lines 3 and 4."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).line(3, at).operator("aten::linalg_inv_ex", at, 400)
        builder.line(4, at + 600).operator("aten::mm", at + 600, 400)
    return builder.context(cell=Cell(source=SOURCE))


def looked(inverse_us: float, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `inverse_us` on the same matrix."""
    look = LookBuilder(recorded()).tensor("k")
    for each in range(3):
        look.tensor(f"x{each}")
        look.operator("aten::linalg_inv_ex", inverse_us, reads="k", makes="inverse", line=3, iteration=each)
        look.operator("aten::mm", 100 - inverse_us, reads=f"inverse x{each}", makes="y", line=4, iteration=each)
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded().build()
