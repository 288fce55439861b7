"""In 4 of 5 iterations all flags of line 4 are set: what line 3 computes for it is thrown away."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The loop goes on after every flag of the mask at line 4 is decided",
    {"masked_share": 0.36, "looked_at_runs": 5, "empty_runs": 4, "mask_elements": 16, "operators": 10},
    lines=(3, 4),
    saving_share=0.288,
    basis="the same share of the operators",
    change="Leave the loop when all flags are decided: `if done.all(): break`",
)
SOURCE = (
    "done = start()\nfor place in range(length):\n    best = net(token).argmax(-1)\n"
    "    token = torch.where(done, PAD, best)\n    done = done | (token == END)\n    show(token)\n"
)


def looked(
    net_us: float, decided: int = 4, iterations: int = 5, *, light_us: float = 0.5, source: str = SOURCE, **facts: float
) -> Trace:
    """Of 100 µs of operators in an iteration `net_us` and `light_us`, the latter element by element, for the token that
    the mask leaves out in the last `decided` ones."""
    look = LookBuilder(recorded("aten::mm", "aten::add", source))
    look.tensor("pad", elements=16).tensor("token0", elements=16)
    look.tensor("done0", elements=16, dtype="bool", zeros_share=0.0 if decided == iterations else 0.5)
    for each in range(iterations):
        following = 0.0 if each + 1 >= iterations - decided else 0.5
        where = {"iteration": each, "elements": 16}
        look.operator("aten::mm", net_us, reads=f"token{each}", makes=f"logits{each}", line=3, **where)
        look.operator("aten::exp", light_us, reads=f"logits{each}", makes=f"best{each}", line=3, **where)
        look.operator(
            *("aten::where.self", 98.5 - net_us - light_us),
            reads=f"done{each} pad best{each}",
            makes=f"token{each + 1}",
            line=4,
            **where,
        )
        look.operator(
            "aten::eq.Scalar", 0.5, reads=f"token{each + 1}", makes=f"end{each}", line=5, dtype="bool", **where
        )
        look.operator(
            *("aten::bitwise_or.Tensor", 0.5),
            reads=f"done{each} end{each}",
            makes=f"done{each + 1}",
            line=5,
            dtype="bool",
            zeros_share=following,
            **where,
        )
        look.operator("aten::item", 0.5, reads=f"token{each + 1}", line=6, iteration=each)
        look.free(f"token{each} logits{each} best{each} end{each} done{each}")
    return look.build(**facts)


def fires() -> Trace:
    return looked(59.5)


def stays_quiet() -> Trace:
    """The same where no iteration finds all of them set."""
    return looked(59.5, decided=0)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::add", SOURCE).build()
