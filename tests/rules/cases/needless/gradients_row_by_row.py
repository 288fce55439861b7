"""Line 3 calls ten backward passes in each iteration, one for each row of a batch of ten."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Gradients at line 3 are computed one row at a time",
    {"passes": 10, "batch": 10, "pass_share": 0.5},
    lines=(3,),
    saving_share=0.36,
    basis="the same share of the operators",
    change="`(gradient,) = torch.autograd.grad(out.sum(), x)`",
)
_BEGINS_US = 0.01
SOURCE = "for x in data:\n    out = net(x)\n    jacobian = rows(out, x)\n    losses.append(loss(out, jacobian))\n"


def looked(passes_us: float, passes: int = 10, iterations: int = 3, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `passes_us` in these passes."""
    look = LookBuilder(recorded("aten::mul", "aten::exp", SOURCE))
    look.tensor("one", shape=()).tensor("weight", shape=(16, 16))
    each_us = passes_us / passes / 2
    for each in range(iterations):
        out, y = f"out{each}", f"y{each}"
        look.tensor(out, shape=(passes, 16))
        for row in range(passes):
            where = {"line": 3, "iteration": each, "backward": True, "forward_line": 2, "shape": (passes, 16)}
            start, grad = f"s{each}_{row}", f"g{each}_{row}"
            given = f"[null, [{passes}, 16], 0, {row}]"
            # each begins with a gradient that is made outside of it
            given_to = {"makes": f"v{each}_{row}", "shape": (16,), "line": 3, "iteration": each, "random": True}
            look.operator("aten::rand", _BEGINS_US, **given_to)
            look.operator(
                "aten::select_backward", each_us, reads=f"v{each}_{row}", makes=start, arguments=given, **where
            )
            look.operator("aten::mul.Tensor", each_us, reads=f"{start} {out}", makes=grad, **where)
        look.operator("aten::exp", 100 - passes_us - passes * _BEGINS_US, reads=out, makes=y, line=4, iteration=each)
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(50, 7)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mul", "aten::exp", SOURCE).build()
