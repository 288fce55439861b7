"""Evaluation of 20 batches without a device: each cat copies 100 µs a batch so far, the model takes 500 µs a batch."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "A tensor grows by `torch.cat` in each turn of a loop: 68 % of the recorded time",
    {"cats": 20, "turns_in_a_row": 20, "cat_ms": 21.0, "last_ms": 2.0, "dimension": 0},
    saving_share=0.612,
    basis="all of it copied once",
    change="`pieces.append(x)`",
)


def evaluation(turns: int = 20, *, shapes: bool = True, used: bool = False, each_us: float = 100) -> TraceBuilder:
    """`used`: a further operator takes the whole tensor in each turn."""
    builder, at = TraceBuilder(), 0.0
    for turn in range(turns):
        dims = f"[[[{64 * turn}, 10], [64, 10]], []]" if shapes else None
        builder.operator("aten::linear", at, 450, dims="[[64, 32], [10, 32], [10]]" if shapes else None)
        builder.operator("aten::cat", at + 450, (turn + 1) * each_us, dims=dims)
        at += 450 + (turn + 1) * each_us
        after = f"[[{64 * (turn + 1)}, 10], [], []]" if used else "[[64, 10], [], []]"
        builder.operator("aten::argmax", at, 50, dims=after if shapes else None)
        at += 50
    return builder


def fires() -> Trace:
    return evaluation().build()


def stays_quiet() -> Trace:
    """A decoder's keys, which attention reads whole in each turn."""
    return evaluation(used=True).build()


def abstains() -> Trace:
    return evaluation(shapes=False).build()
