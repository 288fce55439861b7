"""A frame is drawn in each of 40 steps: line 6 draws for 2 of 50 ms, in which memory grows by 200 MiB in all."""

import sysconfig

from gpuprof.model.context import Cell, PyplotFigures, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MIB = 1 << 20
MS_US = 1000
DRAW = (f"{sysconfig.get_paths()['purelib']}/matplotlib/figure.py", "savefig", 100)
SOURCE = """for step in range(40):
    train()
    fig, axes = plt.subplots(2, 3)
    axes[0, 0].imshow(rec)
    buffer = io.BytesIO()
    fig.savefig(buffer)
"""

EXPECTED = Expected(
    Severity.MEDIUM,
    "The cell leaves 40 matplotlib figures open",
    {"figures_left": 40, "figures_open": 40, "grown_bytes": 200 * MIB},
    lines=(3, 6),
    change="`plt.close(fig)`",
)


def drawn(
    figures: PyplotFigures | None, *, grown_mib: float = 200, source: str = SOURCE, memory: bool = True
) -> TraceBuilder:
    """Forty times 48 ms in line 2 and 2 ms in line 6; a reading in each tenth of a second."""
    builder = TraceBuilder()
    window = Window(cell_start_ns=0, cell_end_ns=2 * 10**9)
    for step in range(40):
        builder.stack(50 * step * MS_US, 48 * MS_US, (CELL_FILE, "<module>", 2))
        builder.stack((50 * step + 48) * MS_US, 2 * MS_US, (CELL_FILE, "<module>", 6), DRAW)
    # each look lies in the drawing
    for tenth in range(20 if memory else 0):
        risen = grown_mib * max(tenth - 2, 0) / 17
        builder.host_sample((100 * tenth + 49) * MS_US, resident_bytes=int((300 + risen) * MIB))
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), window=window, figures=figures)


def fires() -> Trace:
    return drawn(PyplotFigures(left=40, most=40)).build()


def stays_quiet() -> Trace:
    """Nine figures, whatever they hold."""
    return drawn(PyplotFigures(left=9, most=9)).build()


def abstains() -> Trace:
    return drawn(None).build()
