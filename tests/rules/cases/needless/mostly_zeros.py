"""Line 3 multiplies a matrix of 1000×1000 with 5,000 elements that are not zero; line 4 takes half of the time."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "`adj` at line 3 is multiplied as dense, and has 99.5 % zeros",
    {
        "product_share": 0.4526,
        "zeros_share": 0.995,
        "matrix": "1000×1000",
        "elements_not_zero": 5000,
        "pattern": "none",
        "products": 3,
        "matrices": 1,
    },
    lines=(3,),
    saving_share=0.3621,
    basis="the same share of the operators",
    change="Make it sparse once, where it is built: `adj = adj.to_sparse_csr()`; `adj @ x` stays as it is.",
)
SOURCE = "for x in data:\n    h = step(x)\n    y = adj @ h\n    total += y.exp()\n"
# of the time of the products: 5,000 elements at 16 times the operations, and what is read and written
SAVED = 0.9053


def looked(
    products_us: float,
    iterations: int = 3,
    size: int = 1000,
    columns: int = 100,
    zeros_share: float = 0.995,
    pattern: int = 0,
    device: str = "cpu",
    **facts: float,
) -> Trace:
    """Of 100 µs of operators in an iteration `products_us` in the product with such a matrix."""
    look = LookBuilder(recorded("aten::mm", "aten::exp", SOURCE))
    look.tensor("adj", shape=(size, size), zeros_share=zeros_share, zero_pattern=pattern, device=device)
    for each in range(iterations):
        look.tensor("h", shape=(size, columns), device=device)
        where, shape = {"line": 3, "iteration": each}, (size, columns)
        look.operator("aten::mm", products_us, reads="adj h", makes="y", shape=shape, device=device, **where)
        look.operator("aten::exp", 100 - products_us, reads="y", makes="z", shape=shape, line=4, iteration=each)
        look.free("y z")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9 / SAVED)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::exp", SOURCE).build()
