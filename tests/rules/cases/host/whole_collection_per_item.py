"""A cell of 1 s: for half of it each sample looks up its words with `list.index` in a list of 4,000."""

from dataclasses import replace

from msgspec import structs

from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.host.costly_call_per_item import MODEL
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def encode(text):
    return [words.index(each) for each in text.split()]

for text in texts:
    ids = encode(text)
    model(torch.tensor(ids))
"""
EXPECTED = Expected(
    Severity.HIGH,
    "A list of 4,000 items is searched for each item: 50 % of the cell",
    {"work_ms": 500, "work_share": 0.5, "operation": "words.index", "object": "words", "length": 4000, "loops": 2},
    lines=(2, 5),
    saving_share=0.5,
    basis="upper bound: none of this work",
    change="Make the positions of `words` once",
)


def operand(name: str, kind: str, most: int | None, *, least: int | None = None, same: bool = True) -> Operand:
    """Of the first function of the cell."""
    low = most if least is None else least
    return Operand(file=CELL_FILE, first=1, last=2, name=name, kind=kind, looks=9, least=low, most=most, same=same)


WORDS = operand("words", "builtins.list", 4000)


def lookups(
    for_ms: float = 500,
    *,
    source: str = SOURCE,
    over: Operand | None = WORDS,
    loops: bool = True,
) -> Trace:
    """Of a second; the rest is a model of torch's. `loops`: the function is called in the loop of the cell."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    caller = (CELL_FILE, "<module>", 5 if loops else 4)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 100 * for_ms, caller, (CELL_FILE, "encode", 2))
        builder.stack(at + 100 * for_ms, 100_000 - 100 * for_ms, (CELL_FILE, "<module>", 6), MODEL)
    seen = Operands(looks=9, cost_ns=1000, seen=() if over is None else (over,))
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=seen).build()


def fires() -> Trace:
    return lookups()


def stays_quiet() -> Trace:
    """A dict is looked into."""
    return lookups(over=operand("words", "builtins.dict", 4000))


def abstains() -> Trace:
    """Nothing was looked at."""
    trace = lookups()
    return replace(trace, context=structs.replace(trace.context, operands=None))
