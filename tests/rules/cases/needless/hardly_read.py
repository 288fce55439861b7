"""Line 3 computes logits of 40 positions of 8 sequences, and line 4 takes those of the last one."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Most of what line 3 computes is never read",
    {"unread_share": 0.4875, "operator": "aten::mm", "elements_made": 32000, "elements_read": 800},
    lines=(3, 4),
    saving_share=0.39,
    basis="the same share of the operators",
    change="Select what line 4 takes before the computation at line 3",
)
SOURCE = "for x in data:\n    hidden = body(x)\n    logits = head(hidden)\n    losses.append(logits[:, -1].exp())\n"


def looked(product_us: float, iterations: int = 3, positions: int = 40, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `product_us` for the logits, one position of which is read."""
    look = LookBuilder(recorded("aten::mm", "aten::exp", SOURCE)).tensor("weight", shape=(64, 100))
    for each in range(iterations):
        look.tensor("hidden", shape=(8 * positions, 64))
        made = {"makes": "logits", "shape": (8 * positions, 100)}
        look.operator("aten::mm", product_us, reads="hidden weight", line=3, iteration=each, **made)
        where = {"strides": (100 * positions, 1), "offset": 100 * (positions - 1)}
        look.part("last", "logits", shape=(8, 100), **where)
        last = {"reads": "last", "makes": f"y{each}", "shape": (8, 100)}
        look.operator("aten::exp", 100 - product_us, line=4, iteration=each, **last)
        look.free("logits")
    return look.build(**facts)


def first_of_sort() -> Trace:
    """Line 3 sorts 100 scores of each of 40 users, and reads the first five."""
    look = LookBuilder(recorded("aten::argsort", "aten::exp", SOURCE)).tensor("scores", shape=(40, 100))
    for each in range(3):
        made = {"makes": "order", "shape": (40, 100), "arguments": "[null, 1, true]"}
        look.operator("aten::argsort", 50, reads="scores", line=3, iteration=each, **made)
        look.part("first", "order", shape=(40, 5), strides=(100, 1))
        look.operator("aten::exp", 50, line=4, iteration=each, reads="first", makes=f"y{each}", shape=(40, 5))
        look.free("order")
    return look.build()


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    """One of 40 positions is needed: the others take 4.9 %."""
    return looked(4.9 * 40 / 39)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::exp", SOURCE).build()
