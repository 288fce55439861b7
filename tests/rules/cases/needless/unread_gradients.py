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


def one_statement(read: str = "", by_lines: tuple[int, ...] = ()) -> Trace:
    """Line 3 computes what line 4 takes on, and line 6 goes backward through both; of `read` gradients are read."""
    look = LookBuilder(recorded("aten::exp", "aten::mm", SOURCE))
    for each in range(3):
        look.tensor(f"x{each}").tensor("step")
        look.operator("aten::addmm", 20, reads=f"x{each}", makes="h", graph=True, line=3, iteration=each)
        look.operator("aten::addmm", 20, reads="h", makes="fake", graph=True, line=3, iteration=each, by_lines=by_lines)
        look.operator("aten::exp", 10, reads="fake", makes="loss", graph=True, line=4, iteration=each)
        for made, forward, line in (("outer", "loss", 4), ("inner", "fake", 3), ("first", "h", 3)):
            facts = {"kind": ValueKind.GRADIENT, "backward": True, "forward_of": forward, "forward_line": line}
            look.operator("aten::mm", 20, reads=f"x{each}", makes=made, line=6, iteration=each, **facts)
            if made in ("outer", read):
                look.operator("aten::add_", 1, reads=made, writes="step", line=7, iteration=each)
            look.free(made)
    return look.build()


def stays_quiet() -> Trace:
    return looked(4.9)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::exp", "aten::mm", SOURCE).build()
