"""A cell of 1 s: for 400 ms of it each of ten trials builds the same features by a function of another library."""

from typing import Any

from gpuprof.model.context import Cell
from gpuprof.model.operands import MadeValue
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def trial(rate):
    x = features(table)
    return train(x, rate)

for rate in rates:
    scores.append(trial(rate))
"""
EXPECTED = Expected(
    Severity.HIGH,
    "The same value is computed again and again: 40 % of the cell",
    {"work_ms": 400, "work_share": 0.4, "made": 10, "contents": 1, "value_bytes": 80_000},
    lines=(2,),
    saving_share=0.396,
    basis="that for each content once",
    change="Compute `x` once, before the loop that repeats it",
)
QUANTILES = library("sklearn/preprocessing/_data.py", "QuantileTransformer.fit")


def value(**changed: Any) -> MadeValue:
    known: dict[str, Any] = {
        "file": CELL_FILE,
        "function": "trial",
        "first": 1,
        "name": "x",
        "kind": "ndarray",
        "looks": 40,
        "made": 10,
        "contents": 1,
        "bytes": 80_000,
        "told": True,
    }
    return MadeValue(**(known | changed))


def trials(for_ms: float = 40, *values: MadeValue, source: str = SOURCE) -> Trace:
    """Ten of 100 ms; `for_ms` of each in line 2."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    called = (CELL_FILE, "<module>", 6)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 1000 * for_ms, called, (CELL_FILE, "trial", 2), QUANTILES)
        builder.stack(at + 1000 * for_ms, 100_000 - 1000 * for_ms, called, (CELL_FILE, "trial", 3), MODEL)
    cell = Cell(source=source, filename=CELL_FILE)
    return builder.context(cell=cell, made_values=values or (value(),)).build()


def fires() -> Trace:
    return trials()


def in_a_loop() -> Trace:
    """Line 4, in a loop of a function that begins in line 2."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = part * 100_000 + 1
        for line, ms in ((4, 40), (5, 60)):
            builder.stack(at, 1000 * ms, (CELL_FILE, "<module>", 7), (CELL_FILE, "trial", line), QUANTILES)
            at += 40_000
    return builder.context(cell=Cell(source=SOURCE, filename=CELL_FILE), made_values=(value(first=2),)).build()


def stays_quiet() -> Trace:
    """A value that is another one in each trial."""
    return trials(40, value(contents=10))


def abstains() -> Trace:
    """Without samples of the stack."""
    return TraceBuilder().operator("aten::mm", 0, 5).context(made_values=(value(),)).build()
