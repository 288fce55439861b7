"""Line 3 computes the rows of a tensor one by one, 20 in each iteration, and line 4 does something else."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "A Python loop processes small pieces one by one: 60 % of the operators’ time",
    {"turns_per_loop": 20, "loops": 3, "loop_operators": 60, "loop_share": 0.6, "elements_each": 64},
    lines=(3,),
    saving_share=0.3312,
    basis="the same share of the operators",
    change="the whole tensor of shape [20, 64] in one call",
)
SOURCE = "for x in data:\n    for row in x:\n        kept.append(row.exp())\n    y = a @ b\n"


def looked(loop_us: float, turns: int = 20, line: int = 3, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `loop_us` in the rows."""
    look = LookBuilder(recorded("aten::exp", "aten::mm", SOURCE))
    for each in range(3):
        look.tensor("x", shape=(turns, 64)).tensor("a")
        for row in range(turns):
            look.part("row", "x", shape=(64,), strides=(1,), offset=64 * row, view=row)
            made = {"makes": f"y{each}.{row}", "shape": (64,)}
            look.operator("aten::exp", loop_us / turns, reads="row", line=line, iteration=each, **made)
        look.operator("aten::mm", 100 - loop_us, reads="a a", makes=f"b{each}", line=4, iteration=each)
    return look.build(**facts)


def unrecorded(operators_share: float) -> Trace:
    """The loop is in a line that was not recorded."""
    return looked(60, line=5, operators_share=operators_share)


def fires() -> Trace:
    return looked(60)


def stays_quiet() -> Trace:
    return looked(19.9)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::exp", "aten::mm", SOURCE).build()
