"""Distances by a broadcast difference, chunk by chunk: from 400 MiB to 1000 MiB and back each second."""

from gpuprof.model.context import Cell, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MIB = 1 << 20
MS_US = 1000
SOURCE = """def distances(a, b):
    diff = a[:, None, :] - b[None, :, :]
    return diff.pow(2).sum(-1).sqrt()

for chunk in queries.split(128):
    distance = distances(chunk, gallery)
    best = distance.topk(10, largest=False).indices
"""

EXPECTED = Expected(
    Severity.HIGH,
    "Temporary results of a broadcast take 600 MiB, 60 % of the memory peak",
    {"saved_bytes": 600 * MIB, "saved_share": 0.6, "peak_without_bytes": 400 * MIB},
    lines=(2, 3),
    change="`torch.cdist(a, b)`",
)


def processed(high_mib: float = 1000, *, source: str = SOURCE, low_mib: float = 400, seconds: int = 5) -> TraceBuilder:
    """Of each second 0.4 s in line 2, 0.4 s in line 3, and 0.2 s in line 7; a reading in each tenth."""
    builder = TraceBuilder()
    window = Window(cell_start_ns=0, cell_end_ns=seconds * 10**9)
    for second in range(seconds):
        for start, lasts, frames in ((0, 400, (6, 2)), (400, 400, (6, 3)), (800, 200, (7,))):
            stack = [(CELL_FILE, "<module>" if at == 0 else "distances", line) for at, line in enumerate(frames)]
            builder.stack((1000 * second + start) * MS_US, lasts * MS_US, *stack)
        for tenth in range(10):
            held = low_mib if tenth in (0, 8, 9) else (low_mib + (high_mib - low_mib) * min(tenth, 4) / 4)
            builder.host_sample((1000 * second + 100 * tenth + 50) * MS_US, resident_bytes=int(held * MIB))
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), window=window)


def fires() -> Trace:
    return processed().build()


def stays_quiet() -> Trace:
    """Just less than a fifth of the peak."""
    return processed(1000, low_mib=801).build()


def abstains() -> Trace:
    return TraceBuilder().context(cell=Cell(source=SOURCE, filename=CELL_FILE)).build()
