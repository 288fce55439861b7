"""Five steps of 10 ms without a device: a gradient of 100,000 × 64 for 1,000 indices, and SGD on the whole table."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

STEPS, TABLE = 5, "[100000, 64]"

EXPECTED = Expected(
    Severity.HIGH,
    "An embedding table is given dense gradients, though a step uses 1.0 % of its rows at most",
    {
        "rows": 100_000,
        "width": 64,
        "rows_used": 1000,
        "gradients": 5,
        "backward_ms": 20.0,
        "optimizer_ms": 10.0,
        "optimizer": "SGD",
        "avoidable_share": 1.25 * (6 - 0.12 - 0.02 * 4 - 0.03 * 2) / 10,
    },
    saving_share=0.7175,
    basis="only the rows that were used",
    change="sparse=True",
)


def training(
    indices: int = 1000,
    *,
    backward_us: float = 4000,
    update_us: float = 2000,
    optimizer: str = "SGD",
    updating: tuple[str, ...] = ("aten::add_",),
    reading: str | None = None,
    flags: str = '"-1", "False"',
    shapes: bool = True,
) -> TraceBuilder:
    """`updating`: operators on the table, of equal time; `reading`: another one before the optimizer's step."""
    builder = TraceBuilder()
    given = f"[[{indices}, 64], [{indices}], [], [], []]" if shapes else None
    table = f"[{TABLE}]" if shapes else None
    for at in range(0, 10_000 * STEPS, 10_000):
        builder.step(at, 10_000).operator(
            "aten::embedding", at, 500, dims=f"[{TABLE}, [{indices}]]" if shapes else None
        )
        values = f'["", "", "100000", {flags}]' if shapes else None
        node = "autograd::engine::evaluate_function: EmbeddingBackward0"
        builder.operator(node, at + 1000, backward_us + 2)
        builder.operator("aten::embedding_dense_backward", at + 1001, backward_us, dims=given, values=values)
        builder.operator("torch::autograd::AccumulateGrad", at + 6000, 5, dims=table)
        if reading:
            builder.operator(reading, at + 6500, 100, dims=f"[[{TABLE}, [1, 64]]]" if shapes else None)
        builder.optimizer_step(optimizer, at + 7000, update_us + 20)
        each = update_us / len(updating)
        for number, name in enumerate(updating):
            dims = f"[{TABLE}, {TABLE}, []]" if shapes else None
            builder.operator(name, at + 7001 + number * each, each, dims=dims)
        builder.operator("aten::add_", at + 7001 + update_us, 10, dims="[[1, 64], [1, 64], []]" if shapes else None)
    return builder.operator("aten::mean", 10_000 * STEPS - 1, 1)


def fires() -> Trace:
    return training().build()


def stays_quiet() -> Trace:
    """A little more than a quarter of the rows."""
    return training(25_100).build()


def abstains() -> Trace:
    return training(shapes=False).build()
