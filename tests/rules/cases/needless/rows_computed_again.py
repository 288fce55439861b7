"""Line 2 takes 100 rows of a tensor with 100 rows five times, and line 3 computes each row with the same weight."""

from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The same rows are computed again: 40 % of the operators’ time",
    {"source_rows": 100, "taken_rows": 500, "passes": 5.0, "operator_share": 0.4},
    lines=(2, 3),
    saving_share=0.32,
    basis="the same share of the operators",
    change="Compute the result of line 3 once for all 100 rows (19.5 KiB)",
)
SOURCE = (
    "for turn in range(10):\n    batch = x[torch.randint(100, (100,))]\n    out = batch @ weight\n"
    "    spread.append(out.cumsum(0))\n"
)
ROWS, WIDTH, OUT = 100, 64, 50
PART = 0.8
SMALL_US = 0.001


def looked(layer_us: float, taken: int = ROWS, iterations: int = 5, **facts: float) -> Trace:
    """Of 100 µs of operators in an iteration `layer_us` for a layer of `taken` rows."""
    look = LookBuilder(recorded("aten::mm", "aten::cumsum", SOURCE))
    look.tensor("weight", shape=(WIDTH, OUT), kind=ValueKind.PARAMETER).tensor("x", shape=(ROWS, WIDTH))
    for each in range(iterations):
        at = {"iteration": each}
        look.tensor("picked", shape=(taken,), dtype="int64")
        given = {"arguments": "[null, [null]]", "makes": "batch", "shape": (taken, WIDTH)}
        look.operator("aten::index.Tensor", SMALL_US, reads="x picked", line=2, **given, **at)
        made = {"makes": "out", "shape": (taken, OUT)}
        look.operator("aten::mm", layer_us, reads="batch weight", line=3, **made, **at)
        spread = {"makes": f"spread{each}", "shape": (taken, OUT), "arguments": "[null, 0, null]"}
        look.operator("aten::cumsum", 100 - layer_us, reads="out", line=4, **spread, **at)
        look.free("picked batch out")
    return look.build(**facts)


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    """Two iterations took 1.4 times the rows that there are."""
    return looked(50, 70, 2)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::mm", "aten::cumsum", SOURCE).build()
