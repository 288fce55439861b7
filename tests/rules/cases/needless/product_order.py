"""Line 3 multiplies two matrices of 1000×1000, and the product with a column; line 4 takes half of the time."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Products at line 3 run in an expensive order: 48 % of the operators’ time",
    {
        "product_chains": 3,
        "order_share": 0.4839,
        "matrices": "1000×1000, 1000×1000, 1000×1",
        "order": "(a @ b) @ x",
        "cheapest_order": "a @ (b @ x)",
        "flops_each": 2_002_000_000,
        "flops_needed": 4_000_000,
    },
    lines=(3,),
    saving_share=0.387,
    basis="the same share of the operators",
    change="Set parentheses at line 3: `a @ (b @ x)`.",
)
SOURCE = "for x in data:\n    a, b = pair()\n    y = a @ b @ x\n    total += y.exp()\n"
# of the time of both products, by their operations and by the elements that they move
SAVED = 0.9678


def looked(products_us: float, iterations: int = 3, columns: int = 1, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `products_us` in the products with a last matrix of so many columns."""
    look = LookBuilder(recorded("aten::mm", "aten::exp", SOURCE))
    for each in range(iterations):
        look.tensor("a", shape=(1000, 1000)).tensor("b", shape=(1000, 1000)).tensor("x", shape=(1000, columns))
        where, column = {"line": 3, "iteration": each}, (1000, columns)
        look.operator("aten::mm", products_us * 0.9, reads="a b", makes="ab", shape=(1000, 1000), **where)
        look.operator("aten::mm", products_us * 0.1, reads="ab x", makes="y", shape=column, **where).free("ab")
        look.operator("aten::exp", 100 - products_us, reads="y", makes="z", shape=column, line=4, iteration=each)
        look.free("y")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9 / SAVED)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::exp", SOURCE).build()
