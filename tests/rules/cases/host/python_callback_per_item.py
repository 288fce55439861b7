"""A cell of 1 s: for half of it pandas calls a `lambda` for each window of a column."""

from dataclasses import replace

from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def features(days):
    return days.rolling(28).apply(lambda s: s.mean())

table = features(days)
model(table)
"""
EXPECTED = Expected(
    Severity.HIGH,
    "pandas calls Python for each window: 50 % of the cell",
    {"work_ms": 500, "work_share": 0.5, "library_share": 0.4, "operation": "pandas.Rolling.apply", "calls_seen": 20},
    lines=(2, 4),
    saving_share=0.5,
    basis="upper bound: none of this work",
    change="Use the methods of the window",
)
ROLLING = library("pandas/core/window/rolling.py", "Rolling.apply")
LAMBDA = (CELL_FILE, "features.<locals>.<lambda>", 2)


def given(name: str, kind: str, most: int | None, *, least: int | None = None) -> Operand:
    """What the callback got."""
    low = most if least is None else least
    return Operand(file=CELL_FILE, first=1, last=2, name=name, kind=kind, looks=9, least=low, most=most, same=False)


def called_back(
    for_ms: float = 500,
    *through: tuple[str, str, int],
    callback: tuple[str, str, int] = LAMBDA,
    source: str = SOURCE,
    outside: float = 0.4,
    parts: int = 10,
    seen: tuple[Operand, ...] = (),
    inner: tuple[tuple[str, str, int], ...] = (),
) -> Trace:
    """Of a second, in that library's functions: in each part the callback, the library (`outside` of it), the callback.

    `inner`: frames below the callback.
    """
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    above = ((CELL_FILE, "<module>", 4), (CELL_FILE, "features", 2), *(through or (ROLLING,)))
    for part in range(parts):
        length, at = 1_000_000 / parts, part * 1_000_000 / parts + 1
        work = length * for_ms / 1000
        for share, frames in ((0.5 - outside / 2, (callback, *inner)), (outside, ()), (0.5 - outside / 2, (callback,))):
            builder.stack(at, share * work, *above, *frames)
            at += share * work
        builder.stack(at, length - work, (CELL_FILE, "<module>", 5), MODEL)
    builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=Operands(looks=9, seen=seen))
    return builder.build()


def fires() -> Trace:
    return called_back()


def stays_quiet() -> Trace:
    """An optimizer asks for the value at each point."""
    return called_back(500, library("scipy/optimize/_minimize.py", "minimize"))


def abstains() -> Trace:
    """No stack was sampled."""
    trace = called_back()
    unsampled = {name: table.take([]) if name.startswith("stack_") else table for name, table in trace.tables.items()}
    return replace(trace, tables=unsampled)
