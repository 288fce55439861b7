"""30 tokens from a model that reads all tokens so far for each: 100 µs, and 20 µs for each token before it."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

SOURCE = """import torch

model.eval()
ids = prompt
for t in range(30):
    ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
"""
# keys and values are kept, and read by attention
CACHED = """for t in range(30):
    q, k, v = layer(x)
    keys, values = torch.cat([keys, k], 1), v
    keys = torch.cat([keys, k], 1)
    x = attend(q, keys, values)
"""
EXPECTED = Expected(
    Severity.HIGH,
    "Iterations take longer and longer: 56 % of the recorded time",
    {"iterations": 30, "early_ms": 0.18, "late_ms": 0.66, "grows": "ids"},
    lines=(6,),
    saving_share=0.556,
    basis="upper bound",
    change="`use_cache=True`",
)


def generation(
    *, source: str | None = SOURCE, each_us: float = 20, grows: str = "aten::linear", linear_us: float = 0
) -> TraceBuilder:
    """`linear_us`: what another linear layer takes more for each token."""
    builder, at = TraceBuilder(), 0.0
    for token in range(30):
        for name, for_us in (
            ("aten::embedding", 20),
            ("aten::linear", 40 + linear_us * token),
            (grows, 20 + each_us * token),
            ("aten::argmax", 15),
            ("aten::cat", 5),
        ):
            builder.operator(name, at, for_us)
            at += for_us
    return builder.context(cell=Cell(source=source)) if source else builder


def fires() -> Trace:
    return generation().build()


def stays_quiet() -> Trace:
    """A decoder that keeps its keys: attention over them is what grows."""
    return generation(source=CACHED, grows="aten::bmm").build()


def abstains() -> Trace:
    return generation(source=None).build()
