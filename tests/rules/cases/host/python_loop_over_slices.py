"""Five steps of 1 ms without a device; each compares sixteen classes one by one."""

from gpuprof.model.context import Cell, Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

TURN = ("aten::select", "aten::mul", "aten::sum", "aten::add")
SOURCE = """\
for x, y in loader:
    optimizer.zero_grad()
    likely = model(x)
    weights = 1 + y
    loss = 0
    for kind in range(16):
        loss = loss + (likely[:, kind] * weights).sum()
    loss.backward()
    optimizer.step()
"""

EXPECTED = Expected(
    Severity.HIGH,
    "A Python loop over slices takes 64 % of the steps’ time",
    {"loop_ms": 3.19, "turns_per_loop": 16, "dimension": 1, "shape": "8×16×32", "operators_per_turn": 4},
    lines=(6,),
    saving_share=0.511,
    basis="beyond 5 µs",
    change="instead of one index of dimension 1",
)


def loops(
    turns: int = 16,
    *,
    sizes: tuple[int, ...] | None = (8, 16, 32),
    dimension: int = 1,
    source: str | None = SOURCE,
    batch_size: int | None = 8,
) -> Trace:
    """Each turn selects along `dimension` of a tensor of these sizes (None: no shapes were recorded). Of the operators,
    which begin 10 µs apart, half take 9 and half 5 µs."""
    builder = TraceBuilder().operator("aten::stack", 0, 1)
    builder.context(loaders=(Loader(workers=0, batch_size=batch_size),))
    if source is not None:
        builder.context(cell=Cell(source=source, filename="cell"))
    dims = None if sizes is None else f"[{list(sizes)}, [], []]"
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(turns * len(TURN)):
            turn, name = divmod(place, len(TURN))
            values = f'["", "{dimension}", "{turn}"]' if dims and name == 0 else None
            lasting = 9 if name % 2 else 5
            builder.operator(TURN[name], at + 100 + 10 * place, lasting, dims=None if name else dims, values=values)
    return builder.operator("aten::mean", 4999, 1).build()


def fires() -> Trace:
    return loops()


def stays_quiet() -> Trace:
    """The same with a state that each turn needs of the one before."""
    return loops(source=SOURCE.replace("loss = loss + (likely[:, kind]", "loss = (loss * likely[:, kind]"))


def abstains() -> Trace:
    """As many turns alone do not say which dimension it is."""
    return loops(sizes=None)
