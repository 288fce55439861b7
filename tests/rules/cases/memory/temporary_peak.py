"""Scores of all examples at once, three times: from 400 MiB to 1000 MiB within line 6, and back."""

from gpuprof.model.context import Cell, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MIB = 1 << 20
MS_US = 1000
SOURCE = """def scores(x):
    gradients = per_example(x)
    return norms(gradients)

for seed in seeds:
    total += scores(examples)
    train(seed)
"""

EXPECTED = Expected(
    Severity.HIGH,
    "Temporary results of line 6 take 600 MiB, 60 % of the memory peak",
    {"saved_bytes": 600 * MIB, "saved_share": 0.6, "peak_without_bytes": 400 * MIB, "turns": 5},
    lines=(3, 6),
    change="Do the work of line 6 for some rows at a time",
)


def processed(
    high_mib: float = 1000, *, source: str = SOURCE, low_mib: float = 400, seconds: int = 5, stacks: bool = True
) -> TraceBuilder:
    """Of each second 0.4 s in line 2, 0.4 s in line 3, and 0.2 s in line 7; a reading in each tenth."""
    builder = TraceBuilder()
    window = Window(cell_start_ns=0, cell_end_ns=seconds * 10**9)
    for second in range(seconds):
        for start, lasts, frames in ((0, 400, (6, 2)), (400, 400, (6, 3)), (800, 200, (7,))):
            stack = [(CELL_FILE, "<module>" if at == 0 else "scores", line) for at, line in enumerate(frames)]
            if stacks:
                builder.stack((1000 * second + start) * MS_US, lasts * MS_US, *stack)
        for tenth in range(10):
            held = low_mib if tenth in (0, 8, 9) else (low_mib + (high_mib - low_mib) * min(tenth, 4) / 4)
            builder.host_sample((1000 * second + 100 * tenth + 50) * MS_US, resident_bytes=int(held * MIB))
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), window=window)


def fires() -> Trace:
    return processed().build()


def stays_quiet() -> Trace:
    """Just less than a quarter of the peak."""
    return processed(1000, low_mib=751).build()


def abstains() -> Trace:
    return processed(stacks=False).build()
