"""Ten steps of forward on a host without device; the batches were padded to a fixed length."""

from gpuprof.model.context import Cell, Loader
from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "60 % of the positions in the batches are padding",
    {"positions": 10_000, "tokens": 4000, "padding_share": 0.6, "beyond_longest_share": 0.5},
    lines=(4,),
    saving_share=0.495,
    change="DataCollatorWithPadding",
)
SOURCE = "for batch in batches:\n    ids = collate(batch)\n    y = conv(table(ids))\n    scores.append(head(y))\n"


def _steps(tokens: int, *, launches: bool = False, packed: bool = False) -> Trace:
    loader = Loader(workers=0, line=4, tokens=tokens, token_positions=10_000, longest_positions=max(tokens, 5000))
    builder = TraceBuilder().context(loaders=(loader,))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::linear", at, 900)
        if packed:
            builder.operator("aten::_pack_padded_sequence", at + 900, 5)
        if launches:
            builder.call("cudaLaunchKernel", at, 5)
    return builder.operator("aten::linear", 9_999, 1).build()


def fires() -> Trace:
    return _steps(4000)


def stays_quiet() -> Trace:
    """19 % of padding."""
    return _steps(8100)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _steps(4000, launches=True)


def looked(
    padded: float, layer_us: float = 90, pattern: ZeroPattern = ZeroPattern.PADDED_LENGTH, loader: bool = False
) -> Trace:
    """Of 100 µs of operators in an iteration `layer_us` over 300 positions of 32 sequences."""
    loaders = (Loader(workers=0, line=1, tokens=9_000, token_positions=10_000),) if loader else ()
    look = LookBuilder(
        TraceBuilder().operator("aten::relu", 0, 1000).context(cell=Cell(source=SOURCE), loaders=loaders)
    )
    look.tensor("table", shape=(900, 24)).tensor("pooled", shape=(32, 24))
    for each in range(3):
        known = {"zeros_share": padded, "zero_pattern": pattern, "dtype": "int64"}
        look.operator("aten::zeros", 5, makes=f"ids{each}", shape=(32, 300), line=2, iteration=each, **known)
        where = {"line": 3, "iteration": each}
        look.operator("aten::embedding", 1, reads=f"table ids{each}", makes=f"e{each}", shape=(32, 300, 24), **where)
        look.operator("aten::relu", layer_us - 1, reads=f"e{each}", makes=f"r{each}", shape=(32, 300, 24), **where)
        look.operator("aten::exp", 95 - layer_us, reads="pooled", makes=f"y{each}", line=4, iteration=each)
    return look.build()
