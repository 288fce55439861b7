"""Five steps of 1 ms without a device; each handles sixteen samples one by one."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

TURN = ("aten::select", "aten::mm", "aten::relu")

EXPECTED = Expected(
    Severity.HIGH,
    "A Python loop over the batch takes 48 % of the steps’ time",
    {"loop_ms": 2.4, "turns_per_loop": 16, "loops": 5, "operators_per_turn": 3},
    saving_share=0.432,
    change="torch.vmap",
)


def loops(
    turns: int, *, sizes: tuple[int, ...] | None = (16, 8), dimension: int = 0, batch_size: int | None = 16
) -> Trace:
    """Each turn selects along `dimension` of a tensor of these sizes (None: no shapes were recorded)."""
    builder = TraceBuilder().operator("aten::stack", 0, 1)
    if batch_size is not None:
        builder.context(loaders=(Loader(workers=0, batch_size=batch_size),))
    dims = None if sizes is None else f"[{list(sizes)}, [], []]"
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(turns * len(TURN)):
            turn, name = divmod(place, len(TURN))
            values = f'["", "{dimension}", "{turn}"]' if dims and name == 0 else None
            builder.operator(TURN[name], at + 100 + place * 10, 10, dims=None if name else dims, values=values)
    return builder.operator("aten::mean", 4999, 1).build()


def fires() -> Trace:
    return loops(16)


def stays_quiet() -> Trace:
    """Sixteen time steps of a batch of sixteen."""
    return loops(16, sizes=(16, 16, 8), dimension=1)


def abstains() -> Trace:
    """As many turns as samples alone say nothing."""
    return loops(16, sizes=None)
