"""Five steps of 1 ms without a device; each handles sixteen samples one by one."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

TURN = ("aten::select", "aten::mm", "aten::relu")

EXPECTED = Expected(
    Severity.HIGH,
    "A Python loop over the batch takes 48 % of the steps’ time",
    {"loop_ms": 2.4, "turns_per_loop": 16, "loops": 5, "operators_per_turn": 3},
    saving_share=0.45,
    change="torch.vmap",
)


def _loops(turns: int, *, batch_size: int | None = 16, operator_us: float = 10) -> Trace:
    builder = TraceBuilder().operator("aten::stack", 0, 1)
    if batch_size is not None:
        builder.context(loaders=(Loader(workers=0, batch_size=batch_size),))
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for turn in range(turns * len(TURN)):
            builder.operator(TURN[turn % len(TURN)], at + 100 + turn * operator_us, operator_us)
    return builder.operator("aten::mean", 4999, 1).build()


def fires() -> Trace:
    return _loops(16)


def stays_quiet() -> Trace:
    """Twelve layers of a model, each with a slice: not as many as the batch has samples."""
    return _loops(12)


def abstains() -> Trace:
    return _loops(16, batch_size=None)
