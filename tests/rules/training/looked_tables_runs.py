"""Training without shapes in the recording, and a close look that tells them."""

from __future__ import annotations

from gpuprof.model.kinds import ValueKind
from tests.rules.cases.training.dense_embedding_gradients import training
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

LOOKUPS = {
    "embedding": ("aten::embedding", "aten::embedding_dense_backward", "[null, null, -1, false, false]"),
    "index": ("aten::index.Tensor", "aten::index_put", "[null, [null]]"),
}


def looked(
    builder: TraceBuilder | None = None,
    *,
    indices: int = 1000,
    rows: int = 100_000,
    lookup: str = "embedding",
    optimizer: str = "SGD",
    updating: tuple[str, ...] = ("aten::add_.Tensor",),
    clipped: bool = False,
    lookups: int = 1,
) -> TraceBuilder:
    """Three iterations of `lookups` lookups in a table of `rows` × 64, as `training` records them."""
    look = LookBuilder(builder or training(shapes=False, optimizer=optimizer))
    forward, backward, arguments = LOOKUPS[lookup]
    shape = (rows, 64)
    look.tensor("table", shape=shape, grad=True, kind=ValueKind.PARAMETER)
    for each in range(3):
        facts = {"iteration": each}
        for number in range(lookups):
            look.tensor("rows", shape=(indices,), dtype="int64")
            made = {"makes": f"out{number}", "shape": (indices, 64), "arguments": arguments, "graph": True}
            look.operator(forward, 500, reads="table rows", line=3, **made, **facts)
        for number in range(lookups):
            given = {"reads": "rows", "makes": "gradient", "shape": shape, "line": 4, "backward": True}
            look.operator(backward, 4000, forward_of=f"out{number}", **given, **facts)
        if clipped:
            look.operator("aten::_foreach_norm.Scalar", 100, reads="gradient", makes="norm", line=4, **facts)
        for name in updating:
            look.operator(name, 2000, reads="gradient", writes="table", optimizer=optimizer, line=5, **facts)
    return look.context()
