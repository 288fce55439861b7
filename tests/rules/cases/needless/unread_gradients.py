"""Line 4 calls backward through a model whose gradients line 3 then zeroes, in each iteration."""

from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Backward at line 4 computes gradients that nobody reads",
    {"unread_share": 0.5, "operator": "aten::mm", "operators": 3, "elements_made": 4096, "elements_read": 0},
    lines=(4,),
    saving_share=0.4,
    basis="the same share of the operators",
    change="Detach what the loss at line 4 gets from line 2",
)
SOURCE = "for x in data:\n    fake = generator(x)\n    losses.append(fake.exp())\n    fake.sum().backward()\n"


def looked(product_us: float, iterations: int = 3, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `product_us` for a gradient that is freed unread."""
    look = LookBuilder(recorded("aten::exp", "aten::mm", SOURCE))
    for each in range(iterations):
        look.tensor("x")
        look.operator("aten::exp", 100 - product_us, reads="x", makes=f"y{each}", line=3, iteration=each)
        made = {"reads": f"y{each}", "makes": "gradient", "kind": ValueKind.GRADIENT, "backward": True}
        look.operator("aten::mm", product_us, line=4, forward_line=2, iteration=each, **made)
        look.free("gradient")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::exp", "aten::mm", SOURCE).build()
