"""Line 3 multiplies traces of which four of eight have decayed, and take ten times as long; line 4 takes the rest."""

from math import nan

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Operators on subnormal numbers take 50 % of the operators’ time",
    {
        "subnormal_share": 0.5,
        "numbers_share": 0.4,
        "operator": "mul_",
        "times_slower": 40,
        "saved_share": 0.45,
    },
    lines=(3,),
    saving_share=0.36,
    basis="the same share of the operators",
    change="Call `torch.set_flush_denormal(True)` at the top of the cell",
)
SOURCE = "import torch\nfor x in data:\n    trace.mul_(0.8)\n    y = trace.exp()\n"


def looked(
    slow_us: float = 100,
    quick_us: float = 10,
    *,
    quick: int = 4,
    whole_us: float = 800,
    slowdown: float | None = 40.0,
    share: float = 0.4,
    rest_share: float = nan,
    **facts: float,
) -> Trace:
    """Of `whole_us`, four operators on such numbers, and `quick` on others of the same size; of what the
    rest reads so many."""
    look = LookBuilder(recorded("aten::mul_", "aten::exp", SOURCE))
    for each in range(4 + quick):
        slow = each >= quick
        look.tensor(f"x{each}", elements=100_000, subnormals_share=share if slow else 0.0)
        look.operator("aten::mul_.Tensor", slow_us if slow else quick_us, writes=f"x{each}", line=3, iteration=each)
    rest = whole_us - 4 * slow_us - quick * quick_us
    look.tensor("z", elements=100_000, subnormals_share=rest_share).operator(
        "aten::exp", rest, reads="z", makes="y", line=4, iteration=0
    )
    return look.build(subnormal_slowdown=slowdown, **facts)


def fires() -> Trace:
    return looked()


def not_compared(slowdown: float | None = 40.0, slow_us: float = 100) -> Trace:
    """All of them have decayed."""
    return looked(slow_us, quick=0, slowdown=slowdown)


def stays_quiet() -> Trace:
    """This processor takes no longer for them."""
    return looked(100, 99, whole_us=1000, slowdown=1.0)


def abstains() -> Trace:
    """The look ended too early."""
    return looked(operators_share=0.79)
