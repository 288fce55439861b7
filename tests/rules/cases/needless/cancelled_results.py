"""Line 3 computes a second result, which line 4 cancels with a factor of exactly 1."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "A factor of 1 at line 4 cancels what was computed for it",
    {"cancelled_share": 0.375, "factor": 1, "operators": 3},
    lines=(3, 4),
    saving_share=0.3,
    basis="the same share of the operators",
    change="only where the factor at line 4 is not 1 (`if scale != 1:`)",
)
SOURCE = "for x in data:\n    c = net(x)\n    u = net(x * 0)\n    y = u + scale * (c - u)\n    losses.append(y)\n"


def looked(second_us: float, iterations: int = 4, *, scale: float = 1.0, lower: int = 0, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `second_us` for what cancels; what the last one made is still there."""
    look, alpha = LookBuilder(recorded("aten::mm", "aten::add", SOURCE)), "[null, null, 1]"
    for each in range(iterations):
        x, c, u, d, m, y = (f"{name}{each}" for name in "xcudmy")
        look.tensor(x).operator("aten::exp", 97 - second_us, reads=x, makes=c, line=2 + lower, iteration=each)
        look.operator("aten::sin", second_us, reads=x, makes=u, line=3 + lower, iteration=each)
        look.operator("aten::sub.Tensor", 1, reads=f"{c} {u}", makes=d, arguments=alpha, line=4 + lower, iteration=each)
        look.operator(
            "aten::mul.Tensor", 1, reads=d, makes=m, arguments=f"[null, {scale}]", line=4 + lower, iteration=each
        )
        look.operator("aten::add.Tensor", 1, reads=f"{u} {m}", makes=y, arguments=alpha, line=4 + lower, iteration=each)
        if each < iterations - 1:
            look.free(f"{c} {u} {d} {m}")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def a_line_below() -> Trace:
    return looked(50, lower=1)


def stays_quiet() -> Trace:
    """The same with a factor that is not 1."""
    return looked(50, scale=1.001)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::add", SOURCE).build()
