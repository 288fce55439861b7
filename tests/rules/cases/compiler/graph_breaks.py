"""Four steps through two pieces of one function, which a `print` cuts in two."""

from gpuprof.model.context import Compiling, GraphBreak
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.LOW,
    "torch.compile broke its graphs 3 times; a step runs through 2 compiled pieces",
    {"breaks": 3, "graphs": 6, "pieces_per_step": 2, "first_reason": "builtin: print"},
    change="fullgraph=True",
)
_BROKEN = Compiling(
    graphs=6, breaks=(GraphBreak(reason="builtin: print", times=3),), resumed=("torch_dynamo_resume_in_f_at_7",)
)


def _steps(pieces: int, compiling: Compiling | None) -> Trace:
    builder = TraceBuilder().context(compiling=compiling)
    for at in range(0, 4000, 1000):
        builder.step(at, 1000)
        for piece in range(pieces):
            builder.operator(f"Torch-Compiled Region: {piece}/0", at + 100 * piece, 90)
    return builder.build()


def fires() -> Trace:
    return _steps(2, _BROKEN)


def stays_quiet() -> Trace:
    """The broken function is not what the steps run."""
    return _steps(1, _BROKEN)


def abstains() -> Trace:
    """Several pieces, and nobody knows whether of one function."""
    return _steps(2, None)
