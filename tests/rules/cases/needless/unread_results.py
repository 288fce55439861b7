"""Line 3 computes a metric in each iteration that is overwritten before anything reads it."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Nobody reads what is computed at line 3",
    {"unread_share": 0.5, "operator": "aten::sort", "operators": 3, "elements_made": 4096, "elements_read": 0},
    lines=(3,),
    saving_share=0.4,
    basis="the same share of the operators",
    change="Delete the calculation at line 3",
)
SOURCE = "for x in data:\n    y = x\n    ranks = y.sort()\n    losses.append(y.exp())\n"


def looked(sort_us: float, iterations: int = 3, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `sort_us` for a result that nobody reads."""
    look = LookBuilder(recorded("aten::sort", "aten::exp", SOURCE))
    for each in range(iterations):
        look.tensor(f"x{each}")
        look.operator("aten::sort", sort_us, reads=f"x{each}", makes=f"ranks{each}", line=3, iteration=each)
        look.operator("aten::exp", 100 - sort_us, reads=f"x{each}", makes=f"y{each}", line=4, iteration=each)
        look.free(f"ranks{each}")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::sort", "aten::exp", SOURCE).build()
