"""Ten steps of forward on a host without device; the batches were padded to a fixed length."""

from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "60 % of the positions in the batches are padding",
    {"positions": 10_000, "tokens": 4000, "padding_share": 0.6, "beyond_longest_share": 0.5},
    lines=(4,),
    saving_share=0.495,
    change="DataCollatorWithPadding",
)


def _steps(tokens: int, *, launches: bool = False) -> Trace:
    loader = Loader(workers=0, line=4, tokens=tokens, token_positions=10_000, longest_positions=max(tokens, 5000))
    builder = TraceBuilder().context(loaders=(loader,))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::linear", at, 900)
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
