"""Ten steps of 1 ms, 800 µs of it in operators; in the close look line 3 converts to float64 and back."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Tensors are converted and converted back: 20 % of the operators’ time",
    {"round_trips": 3, "conversion_share": 0.2, "bytes_each": 16384, "conversions": "from float32 to float64 and back"},
    lines=(3,),
    saving_share=0.16,
    basis="the same share of the operators",
    change="Use the tensor as it was before",
)
SOURCE = "for x in data:\n    w = x @ x\n    exact = w.double().float()\n    y = exact @ x\n"


def recorded() -> TraceBuilder:
    """The steps: a tenth of the operators' time in each conversion."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).line(2, at).operator("aten::mm", at, 320)
        builder.line(3, at + 400).operator("aten::_to_copy", at + 400, 80)
        builder.operator("aten::_to_copy", at + 500, 80).line(4, at + 680).operator("aten::mm", at + 680, 320)
    return builder.context(cell=Cell(source=SOURCE))


def looked(conversion_us: float, through: str = "float64", **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration twice `conversion_us` in conversions."""
    look, rest = LookBuilder(recorded()), (100 - 2 * conversion_us) / 2
    for each in range(3):
        x = f"x{each}"
        look.tensor(x, content=each + 1)
        look.operator("aten::mm", rest, reads=f"{x} {x}", makes="w", line=2, iteration=each)
        look.operator("aten::_to_copy", conversion_us, reads="w", makes="e", dtype=through, line=3, iteration=each)
        look.operator("aten::_to_copy", conversion_us, reads="e", makes="f", line=3, iteration=each)
        look.operator("aten::mm", rest, reads=f"f {x}", makes="y", line=4, iteration=each)
    return look.build(**facts)


def fires() -> Trace:
    return looked(10)


def stays_quiet() -> Trace:
    return looked(1.49)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded().build()
