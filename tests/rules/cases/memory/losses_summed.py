"""Four losses are added up before one backward pass, each with 120 MiB for it; the process grows to 1000 MiB."""

from gpuprof.model.context import Cell, Window
from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MIB = 1 << 20
SOURCE = """for volume in volumes:
    opt.zero_grad()
    loss = 0.0
    for part in volume.split(4):
        loss = loss + loss_of(net, part)
    loss.backward()
    opt.step()
"""

EXPECTED = Expected(
    Severity.HIGH,
    "Graphs of 4 summed losses take 480 MiB until one `backward()`",
    {"losses": 4, "kept_bytes": 480 * MIB, "largest_bytes": 120 * MIB, "saved_bytes": 360 * MIB, "saved_share": 0.36},
    lines=(5, 6),
    change="Call `backward()` for each iteration",
)


def summed(each_mib: float = 120, losses: int = 4, *, peak_mib: float = 1000, low_mib: float = 400) -> Trace:
    """So many MiB that each keeps."""
    builder = TraceBuilder()
    for tenth in range(20):
        held = low_mib if tenth < 4 else peak_mib
        builder.host_sample(tenth * 100_000 + 250_000, resident_bytes=int(held * MIB))
    window = Window(cell_start_ns=0, cell_end_ns=3 * 10**9)
    builder.context(cell=Cell(source=SOURCE, filename=CELL_FILE), window=window)
    look, total = LookBuilder(builder).tensor("w", kind=ValueKind.PARAMETER, grad=True), ""
    elements = int(each_mib * MIB / 4)
    for each in range(losses):
        look.tensor(f"x{each}")
        where = {"graph": True, "line": 5, "iteration": 0}
        look.operator("aten::mm", 10, reads=f"x{each} w", makes=f"h{each}", elements=elements, **where)
        look.operator("aten::sum", 10, reads=f"h{each}", makes=f"l{each}", elements=1, **where)
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", elements=1, **where)
        total = f"t{each}"
    look.operator("aten::ones_like", 1, reads=total, makes="g", elements=1, line=6, iteration=0)
    for each in reversed(range(losses)):
        where = {"backward": True, "line": 6, "iteration": 0, "forward_of": f"h{each}"}
        look.operator("aten::mm", 20, reads=f"g h{each} w", makes="gw", kind=ValueKind.GRADIENT, **where)
        look.free(f"h{each}")
    return look.build()


def fires() -> Trace:
    return summed()


def stays_quiet() -> Trace:
    """Just less than 100 MiB besides the largest."""
    return summed(33.3)


def abstains() -> Trace:
    """Nothing was looked at."""
    return TraceBuilder().context(cell=Cell(source=SOURCE, filename=CELL_FILE)).build()
