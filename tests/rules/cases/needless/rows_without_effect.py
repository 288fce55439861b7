"""Line 3 computes 100 rows of logits, and the loss at line 4 ignores the targets of 90 of them."""

from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "90 % of the rows computed at line 3 do not enter the loss",
    {"idle_share": 0.9, "operator_share": 0.45, "forward_share": 0.5, "rows": 100, "rows_kept": 10},
    lines=(3, 4),
    saving_share=0.36,
    basis="the same share of the operators",
    change="Select the rows that count before line 3 (`hidden[labels != -100]` of what goes in)",
)
SOURCE = (
    "for x, labels in data:\n    hidden = body(x)\n    logits = head(hidden)\n"
    "    loss = cross_entropy(logits, labels)\n    loss.backward()\n    opt.step()\n"
)
ROWS, WIDTH, WORDS = 100, 64, 500
SMALL_US = 0.001


def looked(
    head_us: float, left_out: float = 0.9, iterations: int = 3, *, metric: bool = False, **facts: float
) -> Trace:
    """Of 100 µs of operators in an iteration `head_us` for the logits, half of it in the backward pass. `metric`: all
    logits are read."""
    look = LookBuilder(recorded("aten::mm", "aten::cumsum", SOURCE))
    look.tensor("weight", shape=(WIDTH, WORDS), kind=ValueKind.PARAMETER, grad=True)
    for each in range(iterations):
        forward = {"iteration": each, "graph": True}
        look.tensor("labels", shape=(ROWS,), dtype="int64").tensor("x", shape=(ROWS, WIDTH))
        made = {"makes": "hidden", "shape": (ROWS, WIDTH)}
        look.operator("aten::cumsum", 100 - head_us, reads="x", line=2, arguments="[null, 0, null]", **made, **forward)
        logits = {"makes": "logits", "shape": (ROWS, WORDS)}
        look.operator("aten::mm", head_us / 2, reads="hidden weight", line=3, **logits, **forward)
        logs = {"makes": "logs", "shape": (ROWS, WORDS), "arguments": "[null, 1, false]"}
        look.operator("aten::_log_softmax", SMALL_US, reads="logits", line=4, **logs, **forward)
        share = {"left_out_share": left_out, "arguments": "[null, null, null, 1, -100]"}
        lost = {"makes": "loss", "shape": ()}
        look.operator("aten::nll_loss_forward", SMALL_US, reads="logs labels", line=4, **share, **lost, **forward)
        if metric:
            look.operator("aten::exp", SMALL_US, reads="logits", line=4, makes=f"shown{each}", iteration=each)
        _backward(look, head_us / 2, each)
        look.free("hidden logits logs loss lost_grad logit_grad")
    return look.build(**facts)


def _backward(look: LookBuilder, product_us: float, iteration: int) -> None:
    at = {"line": 5, "iteration": iteration, "backward": True}
    look.tensor("one", shape=())
    lost = {"makes": "lost_grad", "shape": (ROWS, WORDS), "forward_line": 4, "forward_of": "loss"}
    look.operator("aten::nll_loss_backward", SMALL_US, reads="one logs labels", **lost, **at)
    logs = {"makes": "logit_grad", "shape": (ROWS, WORDS), "forward_line": 4, "forward_of": "logs"}
    given = '[null, null, 1, "torch.float32"]'
    look.operator("aten::_log_softmax_backward_data", SMALL_US, reads="lost_grad logs", arguments=given, **logs, **at)
    look.part("turned", "hidden", shape=(WIDTH, ROWS), strides=(1, WIDTH))
    weight = {"makes": "grad", "shape": (WIDTH, WORDS), "forward_line": 3, "forward_of": "logits"}
    look.operator("aten::mm", product_us, reads="turned logit_grad", kind=ValueKind.GRADIENT, **weight, **at)
    look.operator(
        "aten::add_.Tensor",
        SMALL_US,
        reads="grad",
        writes="weight",
        line=6,
        iteration=iteration,
        kind=ValueKind.PARAMETER,
    )


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    """The rows without effect take 2.9 %."""
    return looked(2.9 / 0.9)


def metric_of_all() -> Trace:
    """The logits are read, and the backward pass alone is for nothing."""
    return looked(50, metric=True)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::cumsum", SOURCE).build()
